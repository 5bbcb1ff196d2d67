package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** What channels go over: TCP of the JDK, or a software device. */
enum Transport {
    TCP(""), ROCE("roce_lo"), IWARP("iwarp_lo");

    private final String device;

    Transport(String device) {
        this.device = device;
    }

    String device() {
        return device;
    }

    SocketChannel open() throws IOException {
        return this == TCP
                ? SocketChannel.open()
                : RdmaSockets.openSocketChannel().setOption(RdmaSocketOptions.RDMA_DEVICE, device);
    }

    ServerSocketChannel openListener() throws IOException {
        return this == TCP
                ? ServerSocketChannel.open()
                : RdmaSockets.openServerSocketChannel().setOption(RdmaSocketOptions.RDMA_DEVICE,
                        device);
    }

    Selector openSelector() throws IOException {
        return this == TCP ? Selector.open() : RdmaSockets.openSelector();
    }

    ServerSocketChannel listen() throws IOException {
        return openListener().bind(loopback(0), 50);
    }

    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    InetSocketAddress unusedAddress() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            return (InetSocketAddress) listener.getLocalAddress();
        }
    }
}
