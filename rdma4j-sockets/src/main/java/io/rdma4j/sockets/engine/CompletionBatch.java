// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

/**
 * Takes completions from a queue. A look that finds none runs a software device, so there is none after those that were there: it would come between a message and
 * the application, and send the acknowledgement by itself which leaves with the answer otherwise. Not thread safe.
 */
final class CompletionBatch {
    /** As many as there mostly are. Each connection has one of these. */
    private static final int MOST = 8;

    private final WorkCompletion[] taken = new WorkCompletion[MOST];

    CompletionBatch() {
        for (int i = 0; i < MOST; i++) {
            taken[i] = new WorkCompletion();
        }
    }

    /** Hands what has completed to a handler; if nothing has, what completes while the device runs once. {@return whether there was any} */
    boolean poll(CompletionQueue queue, CompletionHandler handler) throws RdmaException {
        boolean isAny = false;
        int count = MOST;
        while (count == MOST) {
            count = queue.poll(taken);
            for (int i = 0; i < count; i++) {
                handler.onCompletion(taken[i]);
            }
            isAny |= count > 0;
        }
        return isAny;
    }
}
