// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;

/** A look-up that has reached a datagram service (passive side). The only thing to do with it is to answer. */
public interface CmLookupRequest {
    /**
     * Answers with a queue pair and its Q_Key, to which the peer then sends.
     *
     * @throws RdmaException EINVAL if it is answered already
     */
    void accept(int queuePairNumber, int qkey, byte[] privateData) throws RdmaException;

    /**
     * Refuses the look-up.
     *
     * @throws RdmaException EINVAL if it is answered already
     */
    void reject(byte[] privateData) throws RdmaException;

    /** Forgets it: refuses, if it was not answered. Idempotent. */
    void close();

    /** Receives look-ups. */
    interface Handler extends UnknownEvents {
        /**
         * A look-up arrived.
         *
         * @param via the device it came by
         * @param request what is to be answered
         * @param local the address and port it came to
         * @param peer the address and port it came from
         * @param privateData bytes of the peer's application
         */
        void onRequest(CmContext via, CmLookupRequest request, InetSocketAddress local,
                InetSocketAddress peer, byte[] privateData);
    }
}
