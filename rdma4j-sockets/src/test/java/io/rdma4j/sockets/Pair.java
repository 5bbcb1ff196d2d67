package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Two channels of one process, connected by a software device. */
record Pair(RdmaSocketChannel client, RdmaSocketChannel server) implements AutoCloseable {
    static Pair open(String device) throws IOException {
        try (RdmaServerSocketChannel listener = listen(device)) {
            RdmaSocketChannel client = RdmaSockets.openSocketChannel()
                    .setOption(RdmaSocketOptions.RDMA_DEVICE, device);
            client.connect(listener.getLocalAddress());
            return new Pair(client, listener.accept());
        }
    }

    static RdmaServerSocketChannel listen(String device) throws IOException {
        return RdmaSockets.openServerSocketChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, device).bind(loopback(0), 50);
    }

    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
    }
}
