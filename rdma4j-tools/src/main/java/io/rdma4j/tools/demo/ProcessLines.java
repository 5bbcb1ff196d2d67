// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.function.Consumer;

/** Reads the output of a process. */
final class ProcessLines {
    private ProcessLines() {}

    /**
     * Reads each line until the output ends. What cannot be read, because the stream was closed for example, is reported as
     * a problem and ends it as well: a stream of lines would throw that in a thread where nobody expects it.
     */
    static void read(BufferedReader output, Consumer<String> onLine, Consumer<String> onProblem) {
        try (output) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                onLine.accept(line);
            }
        } catch (IOException e) {
            onProblem.accept(String.valueOf(e.getMessage()));
        }
    }
}
