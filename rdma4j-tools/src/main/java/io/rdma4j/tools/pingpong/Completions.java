// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;

/** What is asked of every completion. */
final class Completions {
    private Completions() {}

    /** @throws IOException in the words of the C programs, and with what the status means */
    static void requireSuccess(WorkCompletion completion) throws IOException {
        if (!completion.isSuccess()) {
            throw new IOException(String.format("Failed status %s (%d) for wr_id %d: %s",
                    completion.status().text(), completion.status().code(), completion.id(),
                    completion.explanation()));
        }
    }
}
