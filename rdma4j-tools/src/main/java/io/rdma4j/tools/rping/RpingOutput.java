// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rping;

import java.io.PrintWriter;

/**
 * What rping prints. Any thread may.
 *
 * @param out for what was asked for
 * @param err for what happened
 * @param isDebugging whether each step is printed
 */
record RpingOutput(PrintWriter out, PrintWriter err, boolean isDebugging) {
    void debug(String line) {
        if (isDebugging) {
            print(line);
        }
    }

    void print(String line) {
        out.println(line);
        out.flush();
    }

    void error(String line) {
        err.println(line);
        err.flush();
    }
}
