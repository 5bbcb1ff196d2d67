// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.calls;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Nanoseconds of calls, by several callers.
 *
 * <p>In each round all have their turn, in one order and the next time in the other. A turn is many bursts, each of which is
 * timed and short; its figure is the median of them, so it does not matter that a burst is interrupted now and then.
 *
 * @param <C> who makes the calls
 */
public final class CallCosts<C> {
    private static final int BURSTS = 200;
    private static final int WARM_UP = 12;

    /**
     * One burst of calls.
     *
     * @param <C> who makes them
     */
    public interface Burst<C> {
        /** {@return the nanoseconds that the calls took; what has to be done before and after them is not in it} */
        long ns(C caller) throws IOException;
    }

    /**
     * A line of the table.
     *
     * @param name what is measured
     * @param calls how many a burst makes
     * @param burst makes them
     * @param <C> who makes them
     */
    public record Line<C>(String name, int calls, Burst<C> burst) {}

    /**
     * A column of the table.
     *
     * @param name what it is called
     * @param caller who makes the calls
     * @param <C> who makes them
     */
    public record Column<C>(String name, C caller) {}

    private final List<Line<C>> lines;
    private final List<Column<C>> columns;
    private final int rounds;

    /** @param rounds how many count, from 1 on */
    public CallCosts(List<Line<C>> lines, List<Column<C>> columns, int rounds) {
        this.lines = lines;
        this.columns = columns;
        this.rounds = rounds;
    }

    /** {@return the table of what it measures, as Markdown} */
    public String table() throws IOException {
        double[][][] figures = new double[lines.size()][columns.size()][rounds];
        for (int round = -WARM_UP; round < rounds; round++) {
            for (int line = 0; line < lines.size(); line++) {
                for (int turn = 0; turn < columns.size(); turn++) {
                    int who = round % 2 == 0 ? turn : columns.size() - 1 - turn;
                    double figure = turn(lines.get(line), columns.get(who).caller);
                    if (round >= 0) {
                        figures[line][who][round] = figure;
                    }
                }
            }
        }
        return text(figures);
    }

    private double turn(Line<C> line, C caller) throws IOException {
        long[] ns = new long[BURSTS];
        for (int i = 0; i < BURSTS; i++) {
            ns[i] = line.burst.ns(caller);
        }
        Arrays.sort(ns);
        return (double) ns[BURSTS / 2] / line.calls;
    }

    private String text(double[][][] figures) {
        StringBuilder table = new StringBuilder("| ns a call: median of ").append(rounds)
                .append(" rounds, least and most |");
        columns.forEach(each -> table.append(' ').append(each.name).append(" |"));
        table.append("\n|---|").append("---|".repeat(columns.size())).append('\n');
        for (int line = 0; line < lines.size(); line++) {
            table.append("| ").append(lines.get(line).name).append(" |");
            for (double[] each : figures[line]) {
                Arrays.sort(each);
                table.append(String.format(Locale.ROOT, " %.1f (%.1f to %.1f) |",
                        each[rounds / 2], each[0], each[rounds - 1]));
            }
            table.append('\n');
        }
        return table.toString();
    }
}
