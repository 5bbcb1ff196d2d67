// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.QueuePairOperations;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/**
 * Waiting for a peer, but not for ever.
 *
 * <p>A killed process does not disconnect. Our outstanding sends fail because they are not acknowledged any more, but
 * a receive does not: it looks as if its message were still to come. So a program that waits for a message gives up
 * after some time.
 *
 * @param limit how long the peer may be silent
 */
record Patience(Duration limit) {
    /** What the examples have when they are run as programs. */
    static final Patience USUAL = new Patience(Duration.ofSeconds(10));

    /** Waits until the oldest signaled send is done. */
    void awaitSend(QueuePairOperations id) throws RdmaException {
        check(id.pollSendCompletion(limit));
    }

    /** Waits for a message. */
    WorkCompletion awaitReceive(QueuePairOperations id) throws RdmaException {
        return check(id.pollReceiveCompletion(limit));
    }

    /** Waits until the peer has disconnected, which flushes a receive that is posted for that. */
    void awaitEnd(QueuePairOperations id) throws RdmaException {
        WorkCompletion completion = id.pollReceiveCompletion(limit);
        if (completion == null) {
            throw tooLate();
        }
        if (completion.isSuccess()) {
            throw new RdmaException(Errno.EIO, "await end", "a message came after the last");
        }
    }

    private WorkCompletion check(@Nullable WorkCompletion completion) throws RdmaException {
        if (completion == null) {
            throw tooLate();
        }
        if (completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            throw new RdmaException(Errno.ECONNRESET, "await peer",
                    "the connection has ended too early: the peer disconnected, or the network"
                            + " interface of this side has gone");
        }
        completion.requireSuccess("await peer");
        return completion;
    }

    private RdmaException tooLate() {
        return new RdmaException(Errno.ETIMEDOUT, "await peer", "nothing came from the peer for "
                + limit.toMillis() + " ms; it may have been killed");
    }
}
