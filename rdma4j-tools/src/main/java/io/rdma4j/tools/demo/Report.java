// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import org.jspecify.annotations.Nullable;

/**
 * What a side tells the demo that started it: a line each on standard output, written by a {@link Reporter}.
 *
 * @param kind what the line means
 * @param atNs when it happened; the clock is the machine's, so both sides' times compare
 * @param text the rest
 */
record Report(Kind kind, long atNs, String text) {
    /** What a line means. */
    enum Kind {
        /** A step of the timeline. */
        STEP,
        /** Where the server listens: address and port. */
        LISTENING,
        /** Bytes carried so far, and how many there are. */
        PROGRESS,
        /** A figure for the summary: name and number. */
        FIGURE,
        /** A check that held or did not: {@code true} or {@code false} and what it was. */
        CHECK
    }

    /** {@return the line that holds it} */
    String line() {
        return "@" + kind + " " + atNs + " " + text;
    }

    /** {@return the report a line holds, or null if it is something else} */
    static @Nullable Report parse(String line) {
        String[] parts = line.split(" ", 3);
        if (!line.startsWith("@") || parts.length < 3) {
            return null;
        }
        return new Report(Kind.valueOf(parts[0].substring(1)), Long.parseLong(parts[1]), parts[2]);
    }

    /** {@return a word of the text} */
    String word(int index) {
        return text.split(" ", index + 2)[index];
    }
}
