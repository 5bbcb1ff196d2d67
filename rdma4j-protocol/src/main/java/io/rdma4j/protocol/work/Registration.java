// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/**
 * What has allowed an access to memory: a region, or a bound window, as it is now. It ends when the region is deregistered or
 * registered anew, or the window is invalidated; what comes then is another one.
 */
public interface Registration {
    /** Its memory is not where other processes can see it. */
    long NOT_SHARED = -1;

    /**
     * {@return where its memory begins in the pages that its device can lend to other processes, {@link #NOT_SHARED} if it is
     * not there} The offsets of a {@link MemoryReference} count from here.
     */
    long sharedAt();
}
