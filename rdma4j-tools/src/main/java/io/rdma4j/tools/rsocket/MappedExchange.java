// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaSocketChannel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/** The bytes of {@code riostream} on one connection. */
final class MappedExchange {
    private static final int BYTE_VALUES = 256;
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    /** How often to look at the memory before looking whether the connection still stands. */
    private static final int LOOKS = 100_000;

    private final RdmaSocketChannel channel;
    private final boolean isClient;
    private final boolean isVerifying;
    private final PeerWatch watch;
    private final StreamExchange greetings;
    /** The next byte to send and to expect, when data are verified. */
    private int sent;
    private int received;
    private long verified;

    MappedExchange(RdmaSocketChannel channel, boolean isClient, boolean isVerifying,
            PeerWatch watch) {
        this.channel = channel;
        this.isClient = isClient;
        this.isVerifying = isVerifying;
        this.watch = watch;
        greetings = new StreamExchange(channel, isClient, false, watch, null);
    }

    /** {@return how long it took, in nanoseconds} */
    long run(StreamRun run) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(run.size());
            memory.set(ValueLayout.JAVA_BYTE, run.size() - 1L, (byte) -1);
            channel.map(memory, 0);
            try {
                greetings.greet(greeting(run.size()));
                return run(run, memory);
            } finally {
                channel.unmap(0);
            }
        }
    }

    /** A short transfer is told to be one that has not begun: a C peer looks at its last byte there. */
    private static ByteBuffer greeting(int size) {
        ByteBuffer greeting = ByteBuffer.allocate(StreamExchange.GREETING);
        if (size <= StreamExchange.GREETING) {
            greeting.put(size - 1, (byte) -1);
        }
        return greeting;
    }

    private long run(StreamRun run, MemorySegment memory) throws IOException {
        long startNs = System.nanoTime();
        int marker = 0;
        for (int i = 0; i < run.iterations(); i++) {
            if (isClient) {
                send(run, memory, marker++);
                receive(memory, marker++);
            } else {
                receive(memory, marker++);
                send(run, memory, marker++);
            }
        }
        return System.nanoTime() - startNs;
    }

    private void send(StreamRun run, MemorySegment memory, int marker) throws IOException {
        ByteBuffer bytes = memory.asByteBuffer();
        for (int i = 0; i < run.transfers() - 1; i++) {
            write(bytes.clear());
        }
        if (isVerifying) {
            for (int i = 0; i < bytes.limit() - 1; i++) {
                bytes.put(i, (byte) sent);
                sent = (sent + 1) % BYTE_VALUES;
            }
        }
        bytes.clear().put(bytes.limit() - 1, (byte) marker);
        write(bytes);
    }

    private void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes, bytes.position()) > 0) {
                watch.moved();
            }
        }
    }

    private void receive(MemorySegment memory, int marker) throws IOException {
        long last = memory.byteSize() - 1;
        int looks = 0;
        boolean hasEnded = false;
        while ((byte) BYTE.getVolatile(memory, last) != (byte) marker) {
            if (hasEnded) {
                throw new IOException("the peer has closed the connection before its last write");
            }
            Thread.onSpinWait();
            // What was written before the end is there when the end is seen.
            hasEnded = ++looks % LOOKS == 0 && hasEnded();
        }
        watch.moved();
        if (!isVerifying) {
            return;
        }
        for (long i = 0; i < last; i++, verified++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != (byte) received) {
                throw new IOException("data verification failed byte " + verified);
            }
            received = (received + 1) % BYTE_VALUES;
        }
    }

    /** Nothing is sent as a stream meanwhile, so its end is all that can be read. */
    private boolean hasEnded() throws IOException {
        boolean isBlocking = channel.isBlocking();
        channel.configureBlocking(false);
        int count = channel.read(ByteBuffer.allocate(1));
        channel.configureBlocking(isBlocking);
        return count < 0;
    }
}
