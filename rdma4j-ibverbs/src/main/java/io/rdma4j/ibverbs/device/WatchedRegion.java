// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

/** A memory region whose memory may go while it is registered. */
public interface WatchedRegion {
    /** {@return whether its memory is still there} */
    boolean isAlive();

    /**
     * Ends its registration if that is possible now.
     *
     * @return whether it has ended
     */
    boolean endAccess();
}
