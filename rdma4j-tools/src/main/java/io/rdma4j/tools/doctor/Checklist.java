// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.tools.output.Terminal;

import java.io.PrintWriter;

/** What was checked, a line each, as it goes on. */
final class Checklist {
    private final PrintWriter out;
    private final int columns;
    private int failures;

    /** @param columns the width of the terminal, or {@link Terminal#ENDLESS} */
    Checklist(PrintWriter out, int columns) {
        this.out = out;
        this.columns = columns;
    }

    /** What the next checks are about. */
    void heading(String text) {
        out.println(text);
    }

    /** It is as it should be. */
    void ok(String text) {
        line("ok", text);
    }

    /** Something can be done, and nothing that should work fails without it. */
    void note(String text) {
        line("note", text);
    }

    /** Something that should work does not. */
    void failed(String text) {
        failures++;
        line("failed", text);
    }

    private void line(String outcome, String text) {
        out.println(Terminal.wrapped("    ", String.format("%-8s%s", outcome, text), columns));
        out.flush();
    }

    /** {@return how many checks failed} */
    int failures() {
        return failures;
    }
}
