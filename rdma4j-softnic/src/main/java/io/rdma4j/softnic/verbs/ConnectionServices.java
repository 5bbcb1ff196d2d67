// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;

/** The connection services of a transport, as described in {@link CmContext}. For any thread. */
public interface ConnectionServices {
    /** {@return how much private data connections carry} */
    PrivateDataLimits privateDataLimits();

    /**
     * Checks that something can leave for a destination.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the local address, its port is down, or the destination is on the
     *         link of another interface
     */
    void checkRoute(CmContext via, InetAddress local, InetAddress destination)
            throws RdmaException;

    /** {@return the cheapest operation that completes only once the peer has answered} */
    default SendOpcode answeredOperation() {
        return SendOpcode.RDMA_WRITE;
    }

    /** {@return how a new queue pair is made ready to receive, before it is connected} */
    QueuePairBringUp bringUp(InetAddress local);

    /**
     * Listens for connections.
     *
     * @param via the context of the requests
     * @throws RdmaException EADDRINUSE if a program listens there already
     */
    CmListener listen(CmContext via, ListenRequest request, CmListener.Handler handler)
            throws RdmaException;

    /** Requests a connection; the handler gets the answer. */
    CmConnection connect(ConnectRequest request, CmConnection.Handler handler) throws RdmaException;

    /** {@return its datagram services, null if it has no datagrams} */
    @Nullable
    CmDatagrams datagrams(CmContext via);
}
