// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/** Receive requests in the order they were posted. */
public interface ReceiveQueue {
    /** {@return the next request, which stays valid until {@link #release}; null if none is posted} */
    @Nullable
    ReceiveRequest take();

    /** Frees the slot of a taken request; the oldest taken is released first. */
    void release(ReceiveRequest request);

    /**
     * Takes all requests that are posted, unless others draw from the same queue.
     *
     * @param taken one that was taken before, which comes first; null for none
     * @param end what happens to each; it releases the request
     */
    default void takeAll(@Nullable ReceiveRequest taken, Consumer<ReceiveRequest> end) {
        if (taken != null) {
            end.accept(taken);
        }
        if (isShared()) {
            return;
        }
        for (@Nullable
        ReceiveRequest next = take(); next != null; next = take()) {
            end.accept(next);
        }
    }

    /** {@return the requests that can be taken} */
    int available();

    /** {@return whether other queue pairs take from the same queue, so that no count is a promise} */
    boolean isShared();
}
