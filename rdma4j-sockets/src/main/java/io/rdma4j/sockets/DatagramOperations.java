// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

/** What the socket of a channel of datagrams needs of it beside its public methods. */
interface DatagramOperations {
    /**
     * As the receive of the channel.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} for no limit
     * @throws java.net.SocketTimeoutException if nothing comes in time
     * @throws java.nio.channels.IllegalBlockingModeException if the channel does not block
     */
    SocketAddress receive(ByteBuffer into, long timeoutNs) throws IOException;

    /** Connects to a peer, also if it is connected to another. */
    void connect(SocketAddress remote) throws IOException;

    /** {@return where it is bound, null if it is not; also after the end} */
    @Nullable
    InetSocketAddress local();

    /** {@return where it is connected to, null if it is not; also after the end} */
    @Nullable
    InetSocketAddress remote();

    /** As the method of a socket. */
    void joinGroup(SocketAddress group, @Nullable NetworkInterface by) throws IOException;

    /** As the method of a socket. */
    void leaveGroup(SocketAddress group, @Nullable NetworkInterface by) throws IOException;
}
