// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

/** A queue pair in the list of its device. For any thread. */
public interface ListedQueuePair extends QueuePair {
    /** {@return its state, or the last one if it was just closed} */
    QueuePairState lastState();

    /** {@return the peer's address, null without one} */
    @Nullable
    Gid peer();

    /** {@return the number of the peer's queue pair, 0 without one} */
    int peerNumber();

    /** {@return the path of its messages, empty if it is not connected} */
    String way();

    /** {@return what is outstanding of its requests that complete into a queue} */
    Outstanding outstandingIn(CompletionQueue queue);
}
