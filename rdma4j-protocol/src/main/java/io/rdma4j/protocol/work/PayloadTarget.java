// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import java.lang.foreign.MemorySegment;

/** Takes the pieces of memory that a range of a message consists of, in order, without copying them. */
public interface PayloadTarget {
    /** Appends a piece, which must not change before it is sent. */
    void addPayload(MemorySegment memory, long offset, int length);

    /** Appends a piece of registered memory, as an access check has allowed it. */
    default void addPayload(MemoryReference place, int length) {
        addPayload(place.segment(), place.offset(), length);
    }
}
