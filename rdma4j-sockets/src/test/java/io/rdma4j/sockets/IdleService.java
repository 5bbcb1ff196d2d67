// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import com.sun.management.OperatingSystemMXBean;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * A program whose one selector has thousands of connections that do nothing, both ends of each, and waits. It fails if that takes
 * more of a processor than a few connections do, or if a message does not wake it. Its arguments are a transport and the number of pairs.
 */
final class IdleService {
    private static final int FEW = 5;
    private static final int BUFFER = 4096;
    private static final Duration WAIT = Duration.ofSeconds(10);
    /** Of a processor: what ten seconds of idleness may take more than with a few. */
    private static final Duration MOST = Duration.ofMillis(100);

    private IdleService() {}

    public static void main(String[] arguments) throws Exception {
        Transport transport = Transport.valueOf(arguments[0]);
        int pairs = Integer.parseInt(arguments[1]);
        try (ServerSocketChannel listener = transport.openListener();
                Selector selector = transport.openSelector()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
            listener.bind(Transport.loopback(0), FEW);
            SocketChannel first = connect(transport, listener, selector, FEW);
            Duration few = idle(selector);
            connect(transport, listener, selector, pairs - FEW);
            Duration many = idle(selector);
            System.out.println(selector.keys().size() + " connections that do nothing take "
                    + many.toMillis() + " ms of a processor in " + WAIT.toSeconds() + " s, "
                    + 2 * FEW + " take " + few.toMillis());
            if (many.compareTo(few.plus(MOST)) > 0) {
                throw new AssertionError("idle connections cost something");
            }
            first.write(ByteBuffer.allocate(1));
            if (selector.select(WAIT.toMillis()) != 1) {
                throw new AssertionError("nobody noticed a message");
            }
        }
        System.exit(0);
    }

    /** {@return the client of the last} */
    private static SocketChannel connect(Transport transport, ServerSocketChannel listener,
            Selector selector, int pairs) throws IOException {
        SocketChannel client = null;
        for (int i = 0; i < pairs; i++) {
            client = transport.open();
            client.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER);
            client.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
            client.connect(listener.getLocalAddress());
            register(client, selector);
            register(listener.accept(), selector);
        }
        if (client == null) {
            throw new IllegalArgumentException("no pairs");
        }
        return client;
    }

    private static void register(SocketChannel channel, Selector selector) throws IOException {
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ);
    }

    /** {@return the time of processors that a wait takes, after one in which what is left of the connecting ends} */
    private static Duration idle(Selector selector) throws IOException {
        selector.select(WAIT.toMillis());
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory
                .getOperatingSystemMXBean();
        long before = system.getProcessCpuTime();
        if (selector.select(WAIT.toMillis()) != 0) {
            throw new AssertionError("a connection that does nothing is ready");
        }
        return Duration.ofNanos(system.getProcessCpuTime() - before);
    }
}
