// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands that run to their end in the thread of the test, and what they print. */
final class Invocation {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** {@return the exit status} */
    int run(List<String> arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        String[] words = arguments.toArray(String[]::new);
        return Main.commandLine(words).setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(words);
    }

    /** {@return the exit status of a line of words without blanks} */
    int run(String line) {
        return run(List.of(line.split(" ", -1)));
    }

    /** Asserts that a command ends with a status and one line with some words. */
    void assertFails(int status, List<String> arguments, String... words) {
        assertThat(run(arguments)).as(String.join(" ", arguments)).isEqualTo(status);
        assertThat(err().strip()).doesNotContain("\n").doesNotContain("Exception").contains(words);
    }

    /** Asserts that a line of words without blanks ends with a status and one line with some words. */
    void assertFails(int status, String line, String... words) {
        assertFails(status, List.of(line.split(" ", -1)), words);
    }

    /** {@return what the last command wrote to its standard output} */
    String out() {
        return out.toString();
    }

    /** {@return what the last command wrote to its standard error} */
    String err() {
        return err.toString();
    }
}
