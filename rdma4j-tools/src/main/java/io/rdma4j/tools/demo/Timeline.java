// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.tools.output.Terminal;
import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Prints the steps of both sides in the order they happened: a column each, in which long texts are broken, or on a narrow terminal
 * one below the other.
 */
final class Timeline {
    private static final long REORDER_NS = 50_000_000;
    private static final int WIDTH = 58;
    /** A column that is narrower holds no address. */
    private static final int NARROWEST = 30;
    private static final int TIME = 14;
    private static final int BAR = 40;

    private final PrintWriter out;
    private final boolean isTerminal;
    private final int columns;
    /** Of the server's column; 0 if both sides share one. */
    private final int width;
    private final PriorityQueue<Step> waiting = new PriorityQueue<>(
            Comparator.comparingLong(Step::atNs));
    private long startNs = Long.MIN_VALUE;
    private boolean hasBar;
    private long lastTenth = -1;
    private @Nullable Progress progress;

    private record Step(long atNs, boolean isServer, String text) {}

    private record Progress(long atNs, long done, long total) {}

    /** @param columns the width of the terminal, or {@link Terminal#ENDLESS} */
    Timeline(PrintWriter out, boolean isTerminal, int columns) {
        this.out = out;
        this.isTerminal = isTerminal;
        this.columns = columns;
        int half = columns == Terminal.ENDLESS ? WIDTH : (columns - TIME - 1) / 2;
        width = half < NARROWEST ? 0 : Math.min(WIDTH, half);
    }

    synchronized void start(String server, String client) {
        if (width > 0) {
            out.printf("%11s   %-" + width + "s %s%n", "", server, client);
        } else {
            out.printf("%11s   %s%n", "", server);
        }
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
        String before = width > 0
                ? step.isServer ? "   " : "   " + " ".repeat(width) + " "
                : step.isServer ? "   server: " : "   client: ";
        String first = time + before;
        int room = step.isServer && width > 0 && columns != Terminal.ENDLESS ? width
                : Math.max(1, columns - first.length());
        out.println(first + String.join(System.lineSeparator() + " ".repeat(first.length()),
                Terminal.wrap(step.text, room)));
    }

    /** Shows how far a file has come: a bar on a terminal, otherwise a line each tenth. */
    synchronized void progress(long atNs, long done, long total) {
        progress = new Progress(atNs, done, total);
    }

    private void print(Progress now) {
        long percent = 100 * now.done / now.total;
        if (isTerminal) {
            // The line must not wrap, or it could not be erased.
            String figures = String.format(" %3d %%  %,d of %,d bytes", percent, now.done,
                    now.total);
            int bar = Math.clamp((long) columns - 5 - figures.length(), 0, BAR);
            int filled = (int) (bar * now.done / now.total);
            out.printf("\r  [%s%s]%s", "#".repeat(filled), "-".repeat(bar - filled), figures);
            hasBar = true;
        } else if (percent / 10 > lastTenth) {
            lastTenth = percent / 10;
            out.printf("%11s   %3d %% of %,d bytes%n", "", percent, now.total);
        }
    }

    private void eraseBar() {
        if (hasBar) {
            out.print("\r" + " ".repeat(Math.min(100, columns - 1)) + "\r");
            hasBar = false;
        }
    }
}
