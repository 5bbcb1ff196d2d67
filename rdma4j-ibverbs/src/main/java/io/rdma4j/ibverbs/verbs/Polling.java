package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

/** Takes completions from a completion queue of libibverbs, some at a time, and reads them then. For one thread at a time. */
interface Polling {
    /** How many are taken at once at most. */
    int BATCH = 32;

    /**
     * Takes completions.
     *
     * @param most from 1 to {@link #BATCH}
     * @return how many there were
     * @throws RdmaException EIO if the driver fails
     */
    int fetch(int most) throws RdmaException;

    /**
     * Reads one of those taken last.
     *
     * @return false if it is of a queue that was closed
     */
    boolean read(int index, WorkCompletion into);

    /** {@return what is thrown if the driver does not answer with completions} */
    static RdmaException failed(int answer, int most) {
        return new RdmaException(Errno.EIO, "poll completion queue", "the device's driver answered "
                + answer + " to a request for " + most + " completions: the queue has overrun or"
                + " the device has failed");
    }
}
