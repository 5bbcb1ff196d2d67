// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.verbs;

import io.rdma4j.benchmarks.calls.CallCosts;
import io.rdma4j.benchmarks.calls.CallCosts.Column;
import io.rdma4j.benchmarks.calls.CallCosts.Line;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The program behind {@code benchmarks/verbs}: nanoseconds of a call, in C and in Java, on a device that does next to nothing.
 *
 * <p>What is posted in a burst is polled after it, and what is polled posted before it, both untimed.
 */
public final class VerbsCost {
    /** Requests of a burst. */
    private static final int BURST = 256;
    private static final int LIST = 16;

    private VerbsCost() {}

    /** A burst of posts. */
    private interface Posts {
        long ns(Caller caller) throws RdmaException;
    }

    private static Line<Caller> post(String name, int length, Posts posts) {
        return new Line<>(name, BURST / length, caller -> {
            long ns = posts.ns(caller);
            caller.polls(LIST, LIST, BURST / LIST);
            return ns;
        });
    }

    private static Line<Caller> poll(String name, int most) {
        return new Line<>(name, BURST / most, caller -> {
            caller.sendLists(LIST, BURST / LIST);
            return caller.polls(most, most, BURST / most);
        });
    }

    private static List<Line<Caller>> lines() {
        List<Line<Caller>> lines = new ArrayList<>();
        for (int length : new int[]{1, LIST}) {
            int calls = BURST / length;
            String of = length == 1 ? " 1" : " a list of " + length;
            lines.add(post("post" + of + ", send", length,
                    caller -> caller.sendLists(length, calls)));
            lines.add(post("post" + of + ", receive", length,
                    caller -> caller.receiveLists(length, calls)));
            lines.add(post("post" + of + ", receive of a shared queue", length,
                    caller -> caller.sharedLists(length, calls)));
        }
        lines.add(new Line<>("poll, nothing there", BURST, caller -> caller.polls(LIST, 0, BURST)));
        lines.add(poll("poll 1", 1));
        lines.add(poll("poll " + LIST, LIST));
        return lines;
    }

    /**
     * Runs it.
     *
     * @param arguments the folder of the two libraries that {@code benchmarks/verbs} has compiled, and how many rounds count
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        InstantDevice device = new InstantDevice(folder.resolve("libibverbs.so.1"));
        DeviceContext ordinary = device.open();
        System.setProperty("rdma4j.critical", "true");
        DeviceContext critical = device.open();
        JavaCaller java = new JavaCaller(ordinary, BURST);
        JavaCaller criticalJava = new JavaCaller(critical, BURST);
        List<Column<Caller>> columns = List.of(
                new Column<>("C", new CCaller(folder.resolve("libpost_and_poll.so"))),
                new Column<>("Java", java), new Column<>("Java, critical", criticalJava));
        System.out.print(
                new CallCosts<>(lines(), columns, Integer.parseInt(arguments[1])).table());
        if (java.numbers() + criticalJava.numbers() != 0) {
            throw new IllegalStateException("completions had numbers that nobody gave");
        }
    }
}
