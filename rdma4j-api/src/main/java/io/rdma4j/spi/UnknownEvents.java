// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

/** Receives what the connection manager of the system reports and this version does not know. */
public interface UnknownEvents {
    /**
     * An event of a type without a name here has come. The thread that drives the device calls it.
     *
     * @param typeCode the number of the type in rdma_cma.h
     * @param status as the system gave it
     */
    default void onUnknownEvent(int typeCode, int status) {
        // Software devices have no such events.
    }
}
