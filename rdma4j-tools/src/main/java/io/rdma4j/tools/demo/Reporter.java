// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import java.io.PrintWriter;

/** Tells the demo what a side does, a {@link Report} at a time. Any thread may. */
final class Reporter {
    private final PrintWriter out;

    Reporter(PrintWriter out) {
        this.out = out;
    }

    /** Tells of a step. */
    void step(String format, Object... arguments) {
        send(Report.Kind.STEP, String.format(format, arguments));
    }

    void listening(String address, int port) {
        send(Report.Kind.LISTENING, address + " " + port);
    }

    void progress(long done, long total) {
        send(Report.Kind.PROGRESS, done + " " + total);
    }

    void figure(String name, long value) {
        send(Report.Kind.FIGURE, name + " " + value);
    }

    void check(boolean holds, String what) {
        send(Report.Kind.CHECK, holds + " " + what);
    }

    private synchronized void send(Report.Kind kind, String text) {
        out.println(new Report(kind, System.nanoTime(), text).line());
        out.flush();
    }
}
