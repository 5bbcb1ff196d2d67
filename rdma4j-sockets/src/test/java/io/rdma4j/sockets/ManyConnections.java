// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import javax.management.JMException;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A program that opens and closes connections, and fails if its device, heap, native memory, files or threads are not as before.
 * Its arguments are a transport and the number of connections.
 */
final class ManyConnections {
    /** In how many ways a connection begins and ends. */
    private static final int WAYS = 8;

    private final Transport transport;
    private final ServerSocketChannel listener;
    private final InetSocketAddress unused;
    private final ByteBuffer buffer = ByteBuffer.allocate(10_000);

    private ManyConnections(Transport transport, ServerSocketChannel listener)
            throws IOException {
        this.transport = transport;
        this.listener = listener;
        unused = transport.unusedAddress();
    }

    public static void main(String[] arguments) throws Exception {
        Transport transport = Transport.valueOf(arguments[0]);
        int connections = Integer.parseInt(arguments[1]);
        ManagementFactory.getPlatformMBeanServer();
        try (DeviceContext _ = RdmaDevices.find(transport.device()).open();
                ServerSocketChannel listener = transport.listen()) {
            // A bean is registered by a thread that looks once a second whether there is a server.
            Wait.until("the device has its bean", () -> ManagementFactory.getPlatformMBeanServer()
                    .isRegistered(bean(transport)));
            ManyConnections many = new ManyConnections(transport, listener);
            for (int i = 0; i < Math.max(5 * WAYS, connections / 10); i++) {
                many.openAndClose(i);
            }
            awaitNothingOpen(transport);
            ProcessResources before = ProcessResources.now();
            for (int i = 0; i < connections; i++) {
                many.openAndClose(i);
            }
            awaitNothingOpen(transport);
            ProcessResources after = ProcessResources.now();
            System.out
                    .println(transport + ", " + connections + " connections: " + before + ", then "
                            + after);
            before.assertNotBelow(after);
        }
        System.exit(0);
    }

    /** A connection is counted until its memory is freed, after its queue pair. */
    private static void awaitNothingOpen(Transport transport) throws JMException {
        ObjectName sockets = new ObjectName("io.rdma4j:type=Sockets");
        Wait.until("nothing is left of the connections",
                () -> count(bean(transport), "QueuePairCount") == 0
                        && count(sockets, "ConnectionCount") == 0);
    }

    private static int count(ObjectName bean, String attribute) throws JMException {
        return (Integer) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, attribute);
    }

    private static ObjectName bean(Transport transport) throws JMException {
        return new ObjectName("io.rdma4j:type=Device,name=" + transport.device());
    }

    private void openAndClose(int number) throws IOException {
        switch (number % WAYS) {
            case 0 -> exchange(Connected.with(transport, listener)).close();
            case 1 -> {
                Connected pair = exchange(Connected.with(transport, listener));
                pair.peer().close();
                pair.channel().close();
            }
            case 2 -> {
                Connected pair = Connected.with(transport, listener);
                for (SocketChannel each : new SocketChannel[]{pair.channel(), pair.peer()}) {
                    each.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                }
                exchange(pair).close();
            }
            case 3 -> {
                Connected pair = exchange(Connected.with(transport, listener));
                pair.channel().setOption(StandardSocketOptions.SO_LINGER, 0);
                pair.close();
            }
            case 4 -> {
                // Bytes that nobody reads.
                Connected pair = Connected.with(transport, listener);
                pair.peer().configureBlocking(false);
                pair.peer().write(buffer.clear());
                pair.channel().configureBlocking(false);
                pair.close();
            }
            case 5 -> {
                Connected pair = exchange(Connected.with(transport, listener));
                pair.channel().shutdownOutput();
                assertThat(pair.peer().read(buffer.clear())).isEqualTo(-1);
                pair.peer().shutdownOutput();
                assertThat(pair.channel().read(buffer.clear())).isEqualTo(-1);
                pair.close();
            }
            case 6 -> {
                SocketChannel refused = transport.open();
                assertThatThrownBy(() -> refused.connect(unused))
                        .isInstanceOf(ConnectException.class);
            }
            default -> {
                // One that nobody accepts.
                try (ServerSocketChannel other = transport.listen();
                        SocketChannel channel = transport.open()) {
                    channel.connect(other.getLocalAddress());
                }
            }
        }
    }

    private Connected exchange(Connected pair) throws IOException {
        pair.channel().write(buffer.clear());
        buffer.clear();
        while (buffer.hasRemaining()) {
            assertThat(pair.peer().read(buffer)).isPositive();
        }
        return pair;
    }
}
