// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;

/** Datagram services and multicast groups of a device whose transport has datagrams. */
public interface CmDatagrams {
    /** {@return how much private data a look-up and its answers can have} */
    PrivateDataLimits privateDataLimits();

    /**
     * Offers a datagram service.
     *
     * @throws RdmaException EADDRINUSE if a program offers one there already
     */
    CmListener listen(ListenRequest spec, CmLookupRequest.Handler handler) throws RdmaException;

    /**
     * Looks up a datagram service; the handler gets the answer.
     *
     * @throws RdmaException ENETUNREACH if the request cannot be sent; a software device reports that to the handler
     *         instead
     */
    CmLookup lookUp(ConnectRequest request, CmLookup.Handler handler)
            throws RdmaException;

    /**
     * {@return how a new queue pair is made ready to send and to receive datagrams}
     *
     * @param local the address it is for
     * @param qkey its Q_Key
     */
    QueuePairBringUp bringUp(InetAddress local, int qkey);

    /**
     * Joins a multicast group; the handler gets the outcome.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the local address, EOPNOTSUPP for a membership that the
     *         device or its driver does not have
     */
    CmMembership join(JoinRequest request, CmMembership.Handler handler) throws RdmaException;
}
