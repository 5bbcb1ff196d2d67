// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A command that runs; its output, both kinds, line by line. Closing it ends it. */
abstract class Running implements AutoCloseable {
    /** Longer than anything takes. */
    static final Duration LONG = Duration.ofSeconds(60);

    private final BufferedReader reader;
    private final List<String> lines = new ArrayList<>();

    Running(BufferedReader reader) {
        this.reader = reader;
    }

    /** {@return the next line that has these words} */
    final String lineWith(String words) throws IOException {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            lines.add(line);
            if (line.contains(words)) {
                return line;
            }
        }
        throw new IOException("no line with '" + words + "' in " + lines);
    }

    /** {@return the port of a server, once it says that it listens} */
    final String port() throws IOException {
        return lineWith("listening on port ").replaceAll(".* port (\\d+).*", "$1");
    }

    /** {@return the exit status, once it has ended} */
    final int awaitEnd() throws Exception {
        reader.lines().forEach(lines::add);
        return status();
    }

    /** Asserts that it ends with a status, and what it says. */
    final void assertFails(int status, String... words) throws Exception {
        assertThat(awaitEnd()).as(text()).isEqualTo(status);
        assertThat(text()).contains(words).doesNotContain("Exception");
    }

    /** {@return the exit status} All output has been read. */
    abstract int status() throws Exception;

    /** {@return what was read so far} */
    final String text() {
        return String.join("\n", lines);
    }

    final String lastLine() {
        return lines.getLast();
    }

    /** Ends it. */
    abstract void end();

    @Override
    public final void close() {
        end();
        try {
            reader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
