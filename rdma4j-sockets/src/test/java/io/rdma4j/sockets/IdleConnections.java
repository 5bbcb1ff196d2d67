// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A program that opens connections and leaves them idle, before and after they have carried messages, one at a time and many, and fails if one costs more than
 * it should beside its two buffers. Its arguments are a transport, the number of pairs of connections, and the most bytes.
 */
final class IdleConnections {
    /** In each direction; together more than a queue has places. */
    private static final int MESSAGES = 400;
    /** The process's own tables grow now and then, and are no cost of the connections of that moment. So the least counts. */
    private static final int BATCHES = 3;

    private final Transport transport;
    private final int pairs;
    private final List<Connected> open = new ArrayList<>();
    private final ByteBuffer buffer = ByteBuffer.allocate(100);
    private long leastNew = Long.MAX_VALUE;
    private long leastUsed = Long.MAX_VALUE;
    private long leastAfterBurst = Long.MAX_VALUE;

    private IdleConnections(Transport transport, int pairs) {
        this.transport = transport;
        this.pairs = pairs;
    }

    public static void main(String[] arguments) throws Exception {
        IdleConnections idle = new IdleConnections(Transport.valueOf(arguments[0]),
                Integer.parseInt(arguments[1]));
        int most = Integer.parseInt(arguments[2]);
        try (ServerSocketChannel listener = idle.transport.listen()) {
            idle.exchange(idle.open(listener));
            for (int i = 0; i < BATCHES; i++) {
                idle.measure(listener);
            }
        }
        System.out.println(idle.transport + ": " + idle.leastNew
                + " bytes beside its buffers when it is new, " + idle.leastUsed + " later, "
                + idle.leastAfterBurst + " some time after a burst");
        if (idle.leastNew > most || idle.leastUsed > most || idle.leastAfterBurst > most) {
            throw new AssertionError("a connection costs more than " + most + " bytes");
        }
        System.exit(0);
    }

    private void measure(ServerSocketChannel listener) throws Exception {
        ProcessResources before = ProcessResources.now();
        List<Connected> opened = open(listener);
        leastNew = Math.min(leastNew, bytesOfOne(before, opened));
        exchange(opened);
        leastUsed = Math.min(leastUsed, bytesOfOne(before, opened));
        for (Connected pair : opened) {
            burst(pair.channel(), pair.peer());
            burst(pair.peer(), pair.channel());
        }
        // Twice as long as the device leaves queues alone that are not used any more.
        Thread.sleep(Duration.ofSeconds(4));
        leastAfterBurst = Math.min(leastAfterBurst, bytesOfOne(before, opened));
    }

    private List<Connected> open(ServerSocketChannel listener) throws IOException {
        List<Connected> opened = new ArrayList<>();
        for (int i = 0; i < pairs; i++) {
            opened.add(Connected.with(transport, listener));
        }
        open.addAll(opened);
        return opened;
    }

    private void exchange(List<Connected> between) throws IOException {
        for (Connected pair : between) {
            for (int i = 0; i < MESSAGES; i++) {
                pass(pair.channel(), pair.peer());
                pass(pair.peer(), pair.channel());
            }
        }
    }

    /** As many messages at a time as the stream takes. */
    private void burst(SocketChannel from, SocketChannel to) throws IOException {
        from.configureBlocking(false);
        int sent = 0;
        for (int i = 0; i < MESSAGES; i++) {
            sent += from.write(buffer.clear());
        }
        from.configureBlocking(true);
        ByteBuffer received = ByteBuffer.allocate(sent);
        while (received.hasRemaining()) {
            to.read(received);
        }
    }

    private void pass(SocketChannel from, SocketChannel to) throws IOException {
        from.write(buffer.clear());
        buffer.clear();
        while (buffer.hasRemaining()) {
            to.read(buffer);
        }
    }

    private static long bytesOfOne(ProcessResources before, List<Connected> opened)
            throws Exception {
        ProcessResources after = ProcessResources.now();
        SocketChannel any = opened.getFirst().channel();
        long sendBuffer = any.getOption(StandardSocketOptions.SO_SNDBUF);
        long receiveBuffer = any.getOption(StandardSocketOptions.SO_RCVBUF);
        long heap = after.heapBytes() - before.heapBytes();
        long outside = after.nativeBytes() - before.nativeBytes();
        return (heap + outside) / (2L * opened.size()) - sendBuffer
                - receiveBuffer;
    }
}
