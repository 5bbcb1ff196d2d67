// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.jdk.OverDevices;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A JVM's provider of channels over devices that says who asks it, and a program that connects in its JVM. */
public final class ForeignProvider extends SelectorProvider implements OverDevices {
    /**
     * Connects two ids over a device, and prints the provider.
     *
     * @param arguments the name of the device
     */
    public static void main(String[] arguments) throws Exception {
        System.out.println(SelectorProvider.provider().getClass().getSimpleName());
        try (CmId listener = CmId.create(PortSpace.TCP);
                CmId client = CmId.create(PortSpace.TCP)) {
            listener.device(arguments[0]);
            listener.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.listen(1);
            CompletableFuture<Void> connected = CompletableFuture.runAsync(() -> {
                try {
                    client.device(arguments[0]);
                    client.resolveAddress(listener.localAddress(), Duration.ofSeconds(5));
                    client.resolveRoute(Duration.ofSeconds(5));
                    client.createQueuePair();
                    client.connect();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            try (CmId accepted = listener.awaitRequest()) {
                accepted.createQueuePair();
                accepted.accept();
                connected.get();
                System.out.println("connected");
            }
        }
        waitInASelector();
    }

    /** The channel by which programs wait for events is a pipe. */
    private static void waitInASelector() throws Exception {
        try (CmEventChannel events = CmEventChannel.create();
                Selector selector = JdkProvider.provider().openSelector()) {
            events.selectableChannel().register(selector, SelectionKey.OP_READ);
            System.out.println("ready: " + selector.selectNow());
        }
    }

    private static UnsupportedOperationException refused() {
        return new UnsupportedOperationException("a device is not made of channels over devices");
    }

    @Override
    public DatagramChannel openDatagramChannel() {
        throw refused();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) {
        throw refused();
    }

    @Override
    public Pipe openPipe() {
        throw refused();
    }

    @Override
    public AbstractSelector openSelector() {
        throw refused();
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() {
        throw refused();
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) {
        throw refused();
    }

    @Override
    public SocketChannel openSocketChannel() {
        throw refused();
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) {
        throw refused();
    }
}
