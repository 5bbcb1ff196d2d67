// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import java.io.PrintWriter;

/** What was checked, a line each, as it goes on. */
final class Checklist {
    private final PrintWriter out;
    private int failures;

    Checklist(PrintWriter out) {
        this.out = out;
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
        out.printf("    %-8s%s%n", outcome, text);
        out.flush();
    }

    /** {@return how many checks failed} */
    int failures() {
        return failures;
    }
}
