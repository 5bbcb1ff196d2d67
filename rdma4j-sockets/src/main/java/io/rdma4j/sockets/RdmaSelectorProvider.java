// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.jdk.OverDevices;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/**
 * Makes channels over RDMA and selectors for them, for programs that take a provider:
 *
 * <pre>
 * new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory(new RdmaSelectorProvider()));
 * </pre>
 *
 * <p>Its datagram channels and pipes are those of the JDK, which its selectors take beside the channels over RDMA. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaSelectorProvider extends SelectorProvider implements OverDevices {
    static final RdmaSelectorProvider INSTANCE = new RdmaSelectorProvider();

    /** A provider; all are alike. */
    public RdmaSelectorProvider() {}

    @Override
    public RdmaSocketChannel openSocketChannel() {
        return new RdmaSocketChannel(this, null);
    }

    @Override
    public RdmaSocketChannel openSocketChannel(ProtocolFamily family) {
        return new RdmaSocketChannel(this, ChannelAddresses.requireInternet(family));
    }

    @Override
    public RdmaServerSocketChannel openServerSocketChannel() {
        return new RdmaServerSocketChannel(this, null);
    }

    @Override
    public RdmaServerSocketChannel openServerSocketChannel(ProtocolFamily family) {
        return new RdmaServerSocketChannel(this, ChannelAddresses.requireInternet(family));
    }

    /** {@return a channel of the JDK's} */
    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return JdkProvider.provider().openDatagramChannel();
    }

    /** {@return a channel of the JDK's} */
    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return JdkProvider.provider().openDatagramChannel(family);
    }

    /** {@return a pipe of the JDK's} */
    @Override
    public Pipe openPipe() throws IOException {
        return JdkProvider.provider().openPipe();
    }

    /** {@return a selector for channels over RDMA, and for the JDK's beside them} */
    @Override
    public AbstractSelector openSelector() {
        return new RdmaSelector(this);
    }
}
