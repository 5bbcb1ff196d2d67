// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaSockets;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.List;

/** The client of {@code udpong}. It waits for answers with a selector, and spins for room if the tool is to spin. */
final class PongClient {
    /** How long an answer to what begins something may take before it is sent again, and to anything else. */
    private static final int LONG_MS = 1000;
    private static final int SHORT_MS = 1;

    private final DatagramChannel channel;
    private final boolean isSpinning;
    private final Duration patience;
    private final PrintWriter out;
    private final PongMessage message = new PongMessage();
    private int sequence;

    PongClient(DatagramChannel channel, PongMode mode, Duration patience, PrintWriter out) {
        this.channel = channel;
        isSpinning = mode == PongMode.SPINNING;
        this.patience = patience;
        this.out = out;
    }

    void run(List<PongRun> runs) throws IOException {
        channel.configureBlocking(false);
        try (Selector selector = RdmaSockets.openSelector()) {
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            print(String.format("%-10s%-8s%-8s%-8s%8s %10s%13s", "name", "bytes", "xfers", "total",
                    "time", "Gb/sec", "usec/xfer"));
            exchange(key, PongMessage.LOGIN, PongMessage.CONTROL_BYTES, LONG_MS);
            for (PongRun run : runs) {
                run(key, run);
            }
        }
    }

    private void run(SelectionKey key, PongRun run) throws IOException {
        exchange(key, PongMessage.START, PongMessage.CONTROL_BYTES, LONG_MS);
        long startNs = System.nanoTime();
        for (int i = 0; i < run.count(); i++) {
            if (run.hasEcho()) {
                exchange(key, PongMessage.ECHO, run.size(), SHORT_MS);
            } else {
                message.operation(PongMessage.DATA);
                send(key, run.size());
            }
        }
        exchange(key, PongMessage.END, PongMessage.CONTROL_BYTES, SHORT_MS);
        print(run.line(System.nanoTime() - startNs, message.number()));
    }

    /** Sends it, again and again, until its answer comes. */
    private void exchange(SelectionKey key, int operation, int size, int timeoutMs)
            throws IOException {
        long startNs = System.nanoTime();
        do {
            if (System.nanoTime() - startNs > patience.toNanos()) {
                throw new IOException(
                        "nothing came from the server for " + patience.toSeconds() + " s");
            }
            message.operation(operation);
            message.sequence(sequence);
            send(key, size);
        } while (!hasAnswer(key, timeoutMs));
        sequence = (sequence + 1) & 0xff;
    }

    private void send(SelectionKey key, int size) throws IOException {
        ByteBuffer sent = message.sent(size);
        while (channel.write(sent) == 0) {
            if (isSpinning) {
                Thread.onSpinWait();
            } else {
                key.interestOps(SelectionKey.OP_WRITE);
                key.selector().select(ready -> {}, LONG_MS);
                key.interestOps(SelectionKey.OP_READ);
            }
        }
    }

    /** {@return whether the answer to the last request has come} Others are late ones. */
    private boolean hasAnswer(SelectionKey key, int timeoutMs) throws IOException {
        key.selector().select(ready -> {}, timeoutMs);
        while (channel.read(message.room()) > 0) {
            if (message.sequence() == sequence) {
                return true;
            }
        }
        return false;
    }

    private void print(String line) {
        out.println(line);
        out.flush();
    }
}
