// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/** The outcome of copying payload into memory. */
public enum CopyOutcome {
    /** The payload was copied. */
    DONE,
    /**
     * The source no longer exists. Only possible for a packet that has not left this machine: the source is the
     * sender's memory, and for the receiver it is as if the packet had not arrived.
     */
    SOURCE_GONE,
    /** The target may not be written, or no longer exists. */
    TARGET_REFUSED
}
