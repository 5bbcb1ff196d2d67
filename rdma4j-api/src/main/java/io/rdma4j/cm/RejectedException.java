// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.Serial;

/**
 * The peer has refused the connection: nobody listens there, or its program has rejected it
 * ({@link CmEventType#REJECTED}).
 *
 * <p>{@link #errno} is ECONNREFUSED.
 *
 * @since 0.1.0
 */
public class RejectedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int status;
    private final byte[] privateData;

    RejectedException(String operation, String detail, int status, byte[] privateData) {
        super(Errno.ECONNREFUSED, operation, detail);
        this.status = status;
        this.privateData = privateData.clone();
    }

    /**
     * {@return the reason as the transport numbers it: on InfiniBand and RoCE the code of a
     * {@link io.rdma4j.connection.RejectReason}, on iWARP a negative errno} C: {@code status} of the event.
     */
    public int status() {
        return status;
    }

    /**
     * {@return what the peer's program gave to {@link CmId#reject(byte[])}, as {@link CmEvent#privateData}; a copy} C:
     * {@code private_data} of the event.
     */
    public byte[] privateData() {
        return privateData.clone();
    }
}
