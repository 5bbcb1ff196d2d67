// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Prints the steps of both sides in the order they happened, a column each. */
final class Timeline {
    private static final long REORDER_NS = 50_000_000;
    private static final int WIDTH = 58;
    private static final int BAR = 40;

    private final PrintWriter out;
    private final boolean isTerminal;
    private final PriorityQueue<Step> waiting = new PriorityQueue<>(
            Comparator.comparingLong(Step::atNs));
    private long startNs = Long.MIN_VALUE;
    private boolean hasBar;
    private long lastTenth = -1;
    private @Nullable Progress progress;

    private record Step(long atNs, boolean isServer, String text) {}

    private record Progress(long atNs, long done, long total) {}

    Timeline(PrintWriter out, boolean isTerminal) {
        this.out = out;
        this.isTerminal = isTerminal;
    }

    synchronized void start(String server, String client) {
        out.printf("%11s   %-" + WIDTH + "s %s%n", "", server, client);
        out.flush();
    }

    /** Adds a step; the other side's earlier steps may still be under way, so it waits a moment. */
    synchronized void add(boolean isServer, Report report) {
        waiting.add(new Step(report.atNs(), isServer, report.text()));
    }

    /** Prints the steps that no earlier one can overtake any more. */
    synchronized void print(long nowNs) {
        while (!waiting.isEmpty() && waiting.element().atNs < nowNs - REORDER_NS) {
            print(waiting.remove());
        }
        if (progress != null && progress.atNs < nowNs - REORDER_NS) {
            print(progress);
            progress = null;
        }
        out.flush();
    }

    /** Prints all steps. */
    synchronized void finish() {
        print(Long.MAX_VALUE);
    }

    private void print(Step step) {
        if (startNs == Long.MIN_VALUE) {
            startNs = step.atNs;
        }
        eraseBar();
        String time = String.format("%8.2f ms", (step.atNs - startNs) / 1e6);
        out.println(step.isServer
                ? time + "   " + step.text
                : time + "   " + " ".repeat(WIDTH) + " " + step.text);
    }

    /** Shows how far a file has come: a bar on a terminal, otherwise a line each tenth. */
    synchronized void progress(long atNs, long done, long total) {
        progress = new Progress(atNs, done, total);
    }

    private void print(Progress now) {
        long percent = 100 * now.done / now.total;
        if (isTerminal) {
            int filled = (int) (BAR * now.done / now.total);
            out.printf("\r  [%s%s] %3d %%  %,d of %,d bytes", "#".repeat(filled),
                    "-".repeat(BAR - filled), percent, now.done, now.total);
            hasBar = true;
        } else if (percent / 10 > lastTenth) {
            lastTenth = percent / 10;
            out.printf("%11s   %3d %% of %,d bytes%n", "", percent, now.total);
        }
    }

    private void eraseBar() {
        if (hasBar) {
            out.print("\r" + " ".repeat(100) + "\r");
            hasBar = false;
        }
    }
}
