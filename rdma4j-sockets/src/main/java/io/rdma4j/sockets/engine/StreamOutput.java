// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.Mapping;
import io.rdma4j.sockets.protocol.RsocketStream;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes of the application, to the stream and to mappings of the peer: what there is room for is copied into the send buffer and sent. One thread at a time, under
 * the lock of the connection.
 */
final class StreamOutput {
    private final SocketEngine engine;
    private final ReentrantLock lock;
    private final ConnectionState state;
    private final ConnectionProgress progress;
    private final StreamQueue queue;
    private final StreamMemory memory;
    private final BufferGrowth growth;
    private final PeerProbes probes;
    private final Copying copying;
    /** The last write has written a part. The next one is the rest of it, for which the messages need not begin short again. */
    private boolean hasStalled;

    /** @param lock of the connection, given up while bytes are copied */
    StreamOutput(SocketEngine engine, ReentrantLock lock, ConnectionState state,
            ConnectionProgress progress, StreamQueue queue, StreamMemory memory,
            BufferGrowth growth, PeerProbes probes, Copying copying) {
        this.engine = engine;
        this.lock = lock;
        this.state = state;
        this.progress = progress;
        this.queue = queue;
        this.memory = memory;
        this.growth = growth;
        this.probes = probes;
        this.copying = copying;
    }

    /** As {@link SocketConnection#write}. */
    long write(ByteBuffer[] from, int first, long wanted) throws IOException {
        RsocketStream open = state.requireOpen();
        if (open.isOutputEnded() && state.takesInVain(open, wanted)) {
            StreamMemory.advance(from, first, wanted);
            return wanted;
        }
        state.requireOutput(open);
        if (!hasStalled) {
            open.startWrite();
        }
        copying.startWriting();
        try {
            long written = copy(open, wanted, from, first);
            hasStalled = written < wanted;
            return written;
        } finally {
            copying.stopWriting(open);
            if (open.isGathering()) {
                // They leave with the completion of a message, whatever this thread does next.
                engine.watch();
            }
        }
    }

    private long copy(RsocketStream open, long wanted, ByteBuffer[] from, int first)
            throws IOException {
        growth.growOutput(open);
        long written = 0;
        int buffer = first;
        boolean hasLooked = false;
        if (open.isAboutToGather() && !engine.isLedByAnother()) {
            // Perhaps messages have completed meanwhile, and these bytes need not wait.
            progress.look(false);
        }
        while (written < wanted) {
            int count = state.isBroken()
                    ? 0
                    : open.writable((int) Math.min(wanted - written, Integer.MAX_VALUE));
            if (count == 0) {
                if (hasLooked || state.isBroken()) {
                    probes.watchStarving();
                    return written;
                }
                engine.moved();
                if (!engine.isLedByAnother()) {
                    progress.look(false);
                }
                hasLooked = true;
                continue;
            }
            if (!writeOne(open, count, from, buffer)) {
                return written;
            }
            buffer = StreamMemory.advance(from, buffer, count);
            written += count;
            hasLooked = false;
        }
        return written;
    }

    /** {@return whether the bytes were sent} The output may end while they are copied. */
    private boolean writeOne(RsocketStream open, int count, ByteBuffer[] from, int buffer)
            throws RdmaException {
        boolean isInline = open.isInline(count);
        int offset = open.writeOffset();
        boolean isLarger = open.isWritingLarger();
        lock.unlock();
        try {
            if (isInline) {
                queue.putInline(count, from, buffer);
            } else {
                memory.put(isLarger, offset, count, from, buffer);
            }
        } finally {
            lock.lock();
        }
        if (state.isBroken() || open.isOutputEnded() || copying.owesDisconnect()) {
            return false;
        }
        boolean isStillInline = isInline && open.isInline(count);
        if (isInline && !isStillInline) {
            // A mapping of another thread has taken the last credit: these few bytes are gathered.
            memory.put(isLarger, offset, count, from, buffer);
        }
        progress.send(open, count, isStillInline);
        return true;
    }

    // ---------------------------------------------------------------- to mappings

    /** As {@link SocketConnection#writeMapped}. */
    int writeMapped(ByteBuffer[] from, int wanted, long offset) throws IOException {
        RsocketStream open = state.requireOpen();
        state.requireOutput(open);
        open.flush();
        progress.process(false);
        copying.startWriting();
        try {
            return copyMapped(open, from, wanted, offset);
        } finally {
            copying.stopWriting(open);
        }
    }

    private int copyMapped(RsocketStream open, ByteBuffer[] from, int wanted, long offset)
            throws IOException {
        int written = 0;
        while (written < wanted) {
            long at = offset + written;
            Mapping to = open.mapping(at);
            if (to == null) {
                if (written > 0) {
                    return written;
                }
                throw new IOException("the peer has mapped nothing at offset " + at);
            }
            int count = state.isBroken() ? 0 : open.mappedWritable(to, at, wanted - written);
            if (count == 0) {
                return written;
            }
            int buffered = open.writeOffset();
            boolean isLarger = open.isWritingLarger();
            lock.unlock();
            try {
                memory.put(isLarger, buffered, count, from, 0);
            } finally {
                lock.lock();
            }
            if (state.isBroken() || open.isOutputEnded()) {
                return written;
            }
            progress.sendMapped(open, to, at, count);
            StreamMemory.advance(from, 0, count);
            written += count;
        }
        return written;
    }
}
