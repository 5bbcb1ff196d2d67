// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.RsocketStream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;

/** Reads of the application: what has arrived is copied out of the receive buffer. One thread at a time, under the lock of the connection. */
final class StreamInput {
    private final SocketEngine engine;
    private final ReentrantLock lock;
    private final ConnectionState state;
    private final ConnectionProgress progress;
    private final StreamMemory memory;
    private final BufferGrowth growth;
    private final Copying copying;
    /** The last read has found bytes. */
    private boolean hasJustRead;

    /** @param lock of the connection, given up while bytes are copied */
    StreamInput(SocketEngine engine, ReentrantLock lock, ConnectionState state,
            ConnectionProgress progress, StreamMemory memory, BufferGrowth growth,
            Copying copying) {
        this.engine = engine;
        this.lock = lock;
        this.state = state;
        this.progress = progress;
        this.memory = memory;
        this.growth = growth;
        this.copying = copying;
    }

    /**
     * Reads what is there.
     *
     * @param to buffers with room, which move on
     * @param wanted how many bytes they have room for, from {@code first} on
     * @param isSelected whether the thread of a selector comes back for what this does not find yet
     * @return how many bytes were read; 0 if none are there, -1 if none will come
     * @throws IOException if the connection was reset or lost, and its bytes are read
     */
    long read(ByteBuffer[] to, int first, long wanted, boolean isSelected) throws IOException {
        RsocketStream open = state.requireOpen();
        // Event loops read until nothing is left, also in threads that go away then: the device would wait for one of these
        // to come back, and not run for the thread that selects.
        boolean isLeftToOthers = hasJustRead || isSelected;
        if (open.readable() == 0 && !isLeftToOthers) {
            engine.moved();
            progress.look(false);
        }
        hasJustRead = false;
        if (open.readable() == 0 || state.isFreed()) {
            state.throwToReader();
            open.onEmpty();
            return open.isInputEnded() || state.isBroken() ? -1 : 0;
        }
        hasJustRead = true;
        copying.startReading();
        try {
            return copy(open, to, first, wanted);
        } finally {
            copying.stopReading(open);
        }
    }

    private long copy(RsocketStream open, ByteBuffer[] to, int first, long wanted) {
        long copied = 0;
        int buffer = first;
        while (copied < wanted && open.readable() > 0) {
            while (!to[buffer].hasRemaining()) {
                buffer++;
            }
            int count = (int) Math.min(wanted - copied, open.readableRun());
            int offset = open.readOffset();
            boolean isLarger = open.isReadingLarger();
            lock.unlock();
            try {
                memory.get(isLarger, offset, count, to, buffer);
            } finally {
                lock.lock();
            }
            open.read(count);
            copied += count;
        }
        growth.growInput(open);
        return copied;
    }
}
