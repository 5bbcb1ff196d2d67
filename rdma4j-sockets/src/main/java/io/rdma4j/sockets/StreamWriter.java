// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.ReentrantLock;

/** Writes to the connection of a channel, as that blocks or not; one thread at a time. */
final class StreamWriter {
    private final RdmaSocketChannel channel;
    private final ReentrantLock lock = new ReentrantLock();
    /** The one buffer of a write that has one, under the lock. */
    private final ByteBuffer[] one = new ByteBuffer[1];
    private final RepeatedBuffers.Transfer gathering = this::writeAll;

    StreamWriter(RdmaSocketChannel channel) {
        this.channel = channel;
    }

    /** {@return what the thread that writes holds} */
    ReentrantLock lock() {
        return lock;
    }

    int write(ByteBuffer from) throws IOException {
        lock.lock();
        try {
            one[0] = from;
            return (int) writeFrom(one, 0, from.remaining());
        } finally {
            one[0] = null;
            lock.unlock();
        }
    }

    long write(ByteBuffer[] from, int first, int buffers) throws IOException {
        lock.lock();
        try {
            return RepeatedBuffers.run(from, first, buffers, gathering);
        } finally {
            lock.unlock();
        }
    }

    /** Writes to memory that the peer has mapped. */
    int write(ByteBuffer from, long offset) throws IOException {
        lock.lock();
        try {
            one[0] = from;
            SocketConnection to = channel.requireConnected();
            return (int) channel.guarded(() -> writeMapped(to, from, offset));
        } finally {
            one[0] = null;
            lock.unlock();
        }
    }

    private long writeAll(ByteBuffer[] from, int first, int buffers) throws IOException {
        return writeFrom(from, first, Buffers.remaining(from, first, buffers));
    }

    private long writeFrom(ByteBuffer[] from, int first, long wanted) throws IOException {
        SocketConnection to = channel.requireConnected();
        long written = channel.guarded(() -> writeWhileOpen(to, from, first, wanted));
        if (written == 0 && channel.isOutputShut()) {
            throw new AsynchronousCloseException();
        }
        return written;
    }

    private long writeWhileOpen(SocketConnection to, ByteBuffer[] from, int first, long wanted)
            throws IOException {
        if (channel.isOutputShut()) {
            return 0;
        }
        long written;
        try {
            written = to.write(from, first, wanted);
        } catch (IOException e) {
            if (channel.isOutputShut()) {
                // By another thread, meanwhile.
                return 0;
            }
            throw e;
        }
        return channel.isBlocking() && written < wanted
                ? written + writeRest(to, from, first, wanted - written)
                : written;
    }

    /** {@return how many bytes of the rest were written} What ends it after some is told by the next write. */
    private long writeRest(SocketConnection to, ByteBuffer[] from, int first, long left)
            throws IOException {
        long written = 0;
        int buffer = first;
        while (written < left && channel.isOpen() && !channel.isOutputShut()) {
            channel.sleep(to::awaitWritable, TimeLimit.NEVER);
            while (!from[buffer].hasRemaining()) {
                buffer++;
            }
            try {
                written += to.write(from, buffer, left - written);
            } catch (IOException e) {
                if (buffer == first && written == 0 && channel.isOpen()
                        && !channel.isOutputShut()) {
                    throw e;
                }
                return written;
            }
        }
        return written;
    }

    private int writeMapped(SocketConnection to, ByteBuffer src, long offset) throws IOException {
        if (channel.isOutputShut()) {
            throw new ClosedChannelException();
        }
        int written = to.writeMapped(one, src.remaining(), offset);
        while (src.hasRemaining() && channel.isBlocking() && channel.isOpen()) {
            channel.sleep(to::awaitMappedWritable, TimeLimit.NEVER);
            written += to.writeMapped(one, src.remaining(), offset + written);
        }
        return written;
    }
}
