// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

/** A port that a {@link PortAuthority} has given out; a device may keep here what it needs to use it. */
public interface PortReservation {
    /** Gives the port back. Idempotent. */
    void release();
}
