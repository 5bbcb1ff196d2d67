// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** The bytes of {@code rstream} on one connection. */
final class StreamExchange {
    static final int GREETING = 16;
    private static final int BYTE_VALUES = 256;

    private final SocketChannel channel;
    private final boolean isClient;
    private final boolean isVerifying;
    private final PeerWatch watch;
    /** Waits before each call; null where calls wait, or are repeated. */
    private final @Nullable StreamPoll poll;
    /** The next byte to send and to expect, when data are verified. */
    private int sent;
    private int received;
    private long verified;

    StreamExchange(SocketChannel channel, boolean isClient, boolean isVerifying, PeerWatch watch,
            @Nullable StreamPoll poll) {
        this.channel = channel;
        this.isClient = isClient;
        this.isVerifying = isVerifying;
        this.watch = watch;
        this.poll = poll;
    }

    /** {@return how long it took, in nanoseconds} */
    long run(StreamRun run) throws IOException {
        greet();
        ByteBuffer buffer = ByteBuffer.allocateDirect(run.size());
        long startNs = System.nanoTime();
        for (int i = 0; i < run.iterations(); i++) {
            for (int j = 0; j < run.transfers(); j++) {
                transfer(buffer, run.size(), isClient);
            }
            for (int j = 0; j < run.transfers(); j++) {
                transfer(buffer, run.size(), !isClient);
            }
        }
        return System.nanoTime() - startNs;
    }

    /** Both sides are ready when this returns. */
    void greet() throws IOException {
        greet(ByteBuffer.allocate(GREETING));
    }

    /**
     * The same with the first bytes of a transfer. C programs receive a greeting where the bytes of their transfers are.
     *
     * @param greeting the first {@value #GREETING}
     */
    void greet(ByteBuffer greeting) throws IOException {
        ByteBuffer received = ByteBuffer.allocate(GREETING);
        if (isClient) {
            send(greeting.clear());
            transfer(received, GREETING, false);
        } else {
            transfer(received, GREETING, false);
            send(greeting.clear());
        }
    }

    private void transfer(ByteBuffer buffer, int count, boolean isSending) throws IOException {
        buffer.clear().limit(count);
        if (isSending) {
            send(buffer);
        } else {
            receive(buffer);
        }
    }

    private void send(ByteBuffer buffer) throws IOException {
        if (isVerifying) {
            for (int i = 0; i < buffer.limit(); i++) {
                buffer.put(i, (byte) sent);
                sent = (sent + 1) % BYTE_VALUES;
            }
        }
        while (buffer.hasRemaining()) {
            await(SelectionKey.OP_WRITE);
            if (channel.write(buffer) > 0) {
                watch.moved();
            }
        }
    }

    private void await(int operation) throws IOException {
        if (poll != null) {
            poll.await(operation);
        }
    }

    private void receive(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            await(SelectionKey.OP_READ);
            int count = channel.read(buffer);
            if (count > 0) {
                watch.moved();
            }
            if (count < 0) {
                throw new IOException("the peer has closed the connection, and " + buffer
                        .remaining() + " bytes of a transfer are missing");
            }
        }
        if (!isVerifying) {
            return;
        }
        for (int i = 0; i < buffer.limit(); i++, verified++) {
            if (buffer.get(i) != (byte) received) {
                throw new IOException("data verification failed byte " + verified);
            }
            received = (received + 1) % BYTE_VALUES;
        }
    }
}
