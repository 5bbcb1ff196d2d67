// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** A queue pair, as threads that wait for its completions ask it. For any thread. */
public interface AwaitedQueuePair {
    /** {@return why no send or receive can complete any more, null if one can} As {@code CmContext.ended}. */
    @Nullable
    Errno ended(boolean ofReceives) throws RdmaException;

    /** {@return what is outstanding of the requests that complete into one of its queues} As {@code CmContext.outstanding}. */
    Outstanding outstanding(boolean ofReceives) throws RdmaException;
}
