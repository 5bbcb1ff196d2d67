// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.time.Duration;

/** The server of {@code udpong}: one for all clients. */
final class PongServer {
    private static final int CLIENTS = 256;

    private final DatagramChannel channel;
    private final PongMode mode;
    private final @Nullable Duration quiet;
    private final PrintWriter out;
    private final PongMessage message = new PongMessage();
    private final long[] counts = new long[CLIENTS];
    private int clients;
    private @Nullable StreamPoll poll;

    /** @param quiet after which time it ends in which nothing came, null for never */
    PongServer(DatagramChannel channel, PongMode mode, @Nullable Duration quiet,
            PrintWriter out) {
        this.channel = channel;
        this.mode = mode;
        this.quiet = quiet;
        this.out = out;
    }

    void run() throws IOException {
        channel.configureBlocking(mode == PongMode.BLOCKING);
        print("waiting for datagrams at " + channel.getLocalAddress());
        if (mode != PongMode.SELECTING) {
            serve();
            return;
        }
        try (StreamPoll made = new StreamPoll(channel)) {
            poll = made;
            serve();
        }
    }

    private void serve() throws IOException {
        PeerWatch watch = null;
        try {
            while (true) {
                ByteBuffer room = message.room();
                InetSocketAddress from = receive(room);
                if (watch != null) {
                    watch.moved();
                } else if (quiet != null) {
                    watch = new PeerWatch(channel, quiet);
                }
                if (room.position() >= PongMessage.CONTROL_BYTES) {
                    process(from, room.position());
                }
            }
        } catch (ClosedChannelException e) {
            if (watch == null || !watch.isOver()) {
                throw e;
            }
        } finally {
            if (watch != null) {
                watch.close();
            }
        }
    }

    private InetSocketAddress receive(ByteBuffer room) throws IOException {
        while (true) {
            if (channel.receive(room) instanceof InetSocketAddress from) {
                return from;
            }
            await(SelectionKey.OP_READ);
        }
    }

    private void await(int operation) throws IOException {
        StreamPoll known = poll;
        if (known != null) {
            known.await(operation);
        } else {
            Thread.onSpinWait();
        }
    }

    private void process(InetSocketAddress from, int size) throws IOException {
        switch (message.operation()) {
            case PongMessage.LOGIN -> {
                print("client login from " + from.getAddress().getHostAddress());
                message.client(clients++);
                counts[message.client()] = 0;
            }
            case PongMessage.START -> counts[message.client()] = 0;
            case PongMessage.ECHO -> counts[message.client()]++;
            case PongMessage.END -> message.number(counts[message.client()]);
            default -> {
                counts[message.client()]++;
                return;
            }
        }
        ByteBuffer answer = message.sent(size);
        while (answer.hasRemaining() && channel.send(answer, from) == 0) {
            await(SelectionKey.OP_WRITE);
        }
    }

    private void print(String line) {
        out.println(line);
        out.flush();
    }
}
