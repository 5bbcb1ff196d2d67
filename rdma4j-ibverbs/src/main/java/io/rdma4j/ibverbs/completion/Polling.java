// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.completion;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

/** Takes completions from a completion queue of libibverbs in batches, and reads them. For one thread at a time. */
interface Polling {
    /** The maximum size of a batch. */
    int BATCH = 32;

    /**
     * Takes completions. All completions of the batch before must have been read.
     *
     * @param most from 1 to {@link #BATCH}
     * @return how many were taken; if fewer than {@code most}, there are no more unless {@link #hasMore}
     * @throws RdmaException EIO if the driver fails
     */
    int fetch(int most) throws RdmaException;

    /** {@return whether there may be completions that the last {@link #fetch} left out although it had room} */
    boolean hasMore();

    /**
     * Reads a completion of the last batch.
     *
     * @return false if it belongs to a closed queue
     */
    boolean read(int index, WorkCompletion into);

    /** {@return the exception for an invalid result of the driver} */
    static RdmaException failed(int answer, int most) {
        return new RdmaException(Errno.EIO, "poll completion queue", "the device's driver answered "
                + answer + " to a request for " + most + " completions: the queue has overrun or"
                + " the device has failed");
    }
}
