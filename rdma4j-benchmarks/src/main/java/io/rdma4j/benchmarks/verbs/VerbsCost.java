package io.rdma4j.benchmarks.verbs;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The program behind {@code benchmarks/verbs}: nanoseconds of a call, in C and in Java, on a device that does next to nothing.
 *
 * <p>In each round all have their turn, in one order and the next time in the other. A turn is many bursts, each of which is
 * timed and short; its figure is the median of them, so it does not matter that a burst is interrupted now and then. What is
 * posted in a burst is polled after it, and what is polled posted before it, both untimed.
 */
public final class VerbsCost {
    /** Requests of a burst. */
    private static final int BURST = 256;
    private static final int BURSTS = 200;
    private static final int WARM_UP = 12;
    private static final int LIST = 16;

    private final List<Caller> callers;
    private final int rounds;

    private VerbsCost(List<Caller> callers, int rounds) {
        this.callers = callers;
        this.rounds = rounds;
    }

    /** One burst of calls. */
    private interface Burst {
        long ns(Caller caller) throws RdmaException;
    }

    /** A line of the table: what is measured, and how many calls a burst makes. */
    private record Line(String name, int calls, Burst burst) {
        static Line post(String name, int length, Burst burst) {
            return new Line(name, BURST / length, caller -> {
                long ns = burst.ns(caller);
                caller.polls(LIST, LIST, BURST / LIST);
                return ns;
            });
        }

        static Line poll(String name, int most) {
            return new Line(name, BURST / most, caller -> {
                caller.sendLists(LIST, BURST / LIST);
                return caller.polls(most, most, BURST / most);
            });
        }
    }

    private static List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        for (int length : new int[]{1, LIST}) {
            int calls = BURST / length;
            String of = length == 1 ? " 1" : " a list of " + length;
            lines.add(Line.post("post" + of + ", send", length,
                    caller -> caller.sendLists(length, calls)));
            lines.add(Line.post("post" + of + ", receive", length,
                    caller -> caller.receiveLists(length, calls)));
            lines.add(Line.post("post" + of + ", receive of a shared queue", length,
                    caller -> caller.sharedLists(length, calls)));
        }
        lines.add(new Line("poll, nothing there", BURST, caller -> caller.polls(LIST, 0, BURST)));
        lines.add(Line.poll("poll 1", 1));
        lines.add(Line.poll("poll " + LIST, LIST));
        return lines;
    }

    /**
     * Runs it.
     *
     * @param arguments the folder of the two libraries that {@code benchmarks/verbs} has compiled, and how many rounds count
     */
    public static void main(String[] arguments) throws RdmaException {
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        InstantDevice device = new InstantDevice(folder.resolve("libibverbs.so.1"));
        DeviceContext ordinary = device.open();
        System.setProperty("rdma4j.critical", "true");
        DeviceContext critical = device.open();
        JavaCaller java = new JavaCaller("Java", ordinary, BURST);
        JavaCaller criticalJava = new JavaCaller("Java, critical", critical, BURST);
        new VerbsCost(List.of(new CCaller(folder.resolve("libpost_and_poll.so")), java,
                criticalJava), Integer.parseInt(arguments[1])).run();
        if (java.numbers() + criticalJava.numbers() != 0) {
            throw new IllegalStateException("completions had numbers that nobody gave");
        }
    }

    private void run() throws RdmaException {
        List<Line> lines = lines();
        double[][][] figures = new double[lines.size()][callers.size()][rounds];
        for (int round = -WARM_UP; round < rounds; round++) {
            for (int line = 0; line < lines.size(); line++) {
                for (int turn = 0; turn < callers.size(); turn++) {
                    int who = round % 2 == 0 ? turn : callers.size() - 1 - turn;
                    double figure = turn(lines.get(line), callers.get(who));
                    if (round >= 0) {
                        figures[line][who][round] = figure;
                    }
                }
            }
        }
        print(lines, figures);
    }

    private static double turn(Line line, Caller caller) throws RdmaException {
        long[] ns = new long[BURSTS];
        for (int i = 0; i < BURSTS; i++) {
            ns[i] = line.burst.ns(caller);
        }
        Arrays.sort(ns);
        return (double) ns[BURSTS / 2] / line.calls;
    }

    private void print(List<Line> lines, double[][][] figures) {
        StringBuilder table = new StringBuilder("| ns a call: median of ").append(rounds)
                .append(" rounds, least and most |");
        callers.forEach(each -> table.append(' ').append(each.name()).append(" |"));
        table.append("\n|---|").append("---|".repeat(callers.size())).append('\n');
        for (int line = 0; line < lines.size(); line++) {
            table.append("| ").append(lines.get(line).name).append(" |");
            for (double[] each : figures[line]) {
                Arrays.sort(each);
                table.append(String.format(Locale.ROOT, " %.1f (%.1f to %.1f) |",
                        each[rounds / 2], each[0], each[rounds - 1]));
            }
            table.append('\n');
        }
        System.out.print(table);
    }
}
