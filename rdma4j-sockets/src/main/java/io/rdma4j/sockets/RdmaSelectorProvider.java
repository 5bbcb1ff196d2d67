package io.rdma4j.sockets;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/** What the channels of this module name as their provider. It makes connected and listening channels. */
final class RdmaSelectorProvider extends SelectorProvider {
    static final RdmaSelectorProvider INSTANCE = new RdmaSelectorProvider();

    private RdmaSelectorProvider() {}

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

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        throw new UnsupportedOperationException("there are no datagram channels over RDMA");
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return openDatagramChannel();
    }

    @Override
    public Pipe openPipe() throws IOException {
        throw new UnsupportedOperationException("there are no pipes over RDMA");
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        throw new UnsupportedOperationException("there is no selector for channels over RDMA");
    }
}
