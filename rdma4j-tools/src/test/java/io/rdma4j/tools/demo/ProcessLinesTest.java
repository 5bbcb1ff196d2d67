// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.FilterReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** How the demo reads what its processes say. */
class ProcessLinesTest {
    private final List<String> lines = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    @Test
    void outputIsReadToItsEnd() {
        ProcessLines.read(new BufferedReader(new StringReader("one\ntwo")), lines::add,
                problems::add);
        assertThat(lines).containsExactly("one", "two");
        assertThat(problems).isEmpty();
    }

    /** As when the demo ends a process of whose output a thread still reads. */
    @Test
    void outputThatIsClosedUnderItsReaderIsAProblemAndNoException() {
        FilterReader closing = new FilterReader(new StringReader("one\n")) {
            @Override
            public int read(char[] into, int from, int length) throws IOException {
                int read = super.read(into, from, length);
                if (read < 0) {
                    throw new IOException("Stream closed");
                }
                return read;
            }
        };
        ProcessLines.read(new BufferedReader(closing), lines::add, problems::add);
        assertThat(lines).containsExactly("one");
        assertThat(problems).containsExactly("Stream closed");
    }
}
