package io.rdma4j.protocol.work;

import org.jspecify.annotations.Nullable;

/** Receive requests in the order they were posted. */
public interface ReceiveQueue {
    /** {@return the next request, which stays valid until {@link #release}; null if none is posted} */
    @Nullable
    ReceiveRequest take();

    /** Frees the slot of a taken request; the oldest taken is released first. */
    void release(ReceiveRequest request);

    /** {@return the requests that can be taken} */
    int available();

    /** {@return whether other queue pairs take from the same queue, so that no count is a promise} */
    boolean isShared();
}
