// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jmx;

import java.util.List;

/**
 * The sockets over RDMA that are open in this process, as {@code io.rdma4j:type=Sockets}. It is there while there is one.
 *
 * <p>Each reading holds up each connection for as long as it takes to read a few numbers: values of one connection belong to
 * one moment, those of several do not.
 *
 * @since 0.1.0
 */
public interface SocketsMXBean {
    /** {@return how many connections there are, with those that are being made and those whose last bytes leave} */
    int getConnectionCount();

    /** {@return these connections, the oldest first} */
    List<SocketConnectionData> getConnections();

    /** {@return how many listeners there are} */
    int getListenerCount();

    /** {@return these listeners, the oldest first} */
    List<SocketListenerData> getListeners();

    /** {@return how many sockets of datagrams there are} */
    int getDatagramSocketCount();

    /** {@return these sockets, the oldest first} */
    List<DatagramSocketData> getDatagramSockets();
}
