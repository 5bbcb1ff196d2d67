// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;

/** Reads from the connection of a channel, as that blocks or not; one thread at a time. */
final class StreamReader {
    private final RdmaSocketChannel channel;
    private final ReentrantLock lock = new ReentrantLock();
    /** The one buffer of a read that has one, under the lock. */
    private final ByteBuffer[] one = new ByteBuffer[1];
    private final RepeatedBuffers.Transfer scattering = this::readIntoAll;

    StreamReader(RdmaSocketChannel channel) {
        this.channel = channel;
    }

    /** {@return what the thread that reads holds} */
    ReentrantLock lock() {
        return lock;
    }

    int read(ByteBuffer to, long timeoutNs) throws IOException {
        lock.lock();
        try {
            one[0] = to;
            return (int) readInto(one, 0, 1, timeoutNs);
        } finally {
            one[0] = null;
            lock.unlock();
        }
    }

    long read(ByteBuffer[] to, int first, int buffers) throws IOException {
        lock.lock();
        try {
            return RepeatedBuffers.run(to, first, buffers, scattering);
        } finally {
            lock.unlock();
        }
    }

    private long readIntoAll(ByteBuffer[] to, int first, int buffers) throws IOException {
        return readInto(to, first, buffers, Long.MAX_VALUE);
    }

    private long readInto(ByteBuffer[] to, int first, int buffers, long timeoutNs)
            throws IOException {
        SocketConnection from = channel.requireConnected();
        long count = channel.guarded(() -> readWhileOpen(from, to, first, buffers, timeoutNs));
        return count <= 0 && channel.isInputShut() ? -1 : count;
    }

    private long readWhileOpen(SocketConnection from, ByteBuffer[] to, int first, int buffers,
            long timeoutNs) throws IOException {
        if (channel.isInputShut()) {
            return -1;
        }
        long wanted = Buffers.room(to, first, buffers);
        if (wanted == 0) {
            return 0;
        }
        long count = from.read(to, first, wanted);
        if (count != 0 || !channel.isBlocking()) {
            return count;
        }
        TimeLimit limit = TimeLimit.in(timeoutNs);
        while (count == 0 && channel.isOpen() && !channel.isInputShut()) {
            channel.sleep(from::awaitReadable, limit);
            count = from.read(to, first, wanted);
            if (count == 0 && limit.isOver() && channel.isOpen() && !channel.isInputShut()) {
                throw new SocketTimeoutException("Read timed out");
            }
        }
        return count;
    }
}
