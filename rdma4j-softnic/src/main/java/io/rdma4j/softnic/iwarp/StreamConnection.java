// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * One TCP connection. It buffers received bytes that are not processed yet, and bytes to send that the network has not
 * accepted yet. For the engine's owner.
 *
 * <p>While both buffers are empty it has no memory of its own, so thousands of idle connections cost little.
 */
final class StreamConnection implements Stream.Handler {
    /** One connection keeps no other from being read. */
    private static final int READS_AT_ONCE = 4;
    private static final byte[] NOTHING = {};
    private static final ByteBuffer EMPTY = ByteBuffer.wrap(NOTHING);
    /** Of a connection that lingers. */
    private static final User NOBODY = new User() {
        @Override
        public long onBytes(MemorySegment memory, long offset, long available) {
            return available;
        }

        @Override
        public void onRoom() {
            // The user sends nothing more.
        }

        @Override
        public void onEnd() {
            // The user has ended it itself.
        }
    };

    /** Is notified whether a requested connection was established. */
    interface Opening {
        /** The connection is established. */
        void onConnected();

        /** The connection was refused. */
        void onRefused(Errno reason);
    }

    /** The user of the bytes: first the set-up, then a queue pair. */
    interface User {
        /**
         * Processes received bytes.
         *
         * @return how many it has used; the rest is passed again together with later bytes
         */
        long onBytes(MemorySegment memory, long offset, long available);

        /** There is room to send again. */
        void onRoom();

        /** The connection has ended: nothing more arrives or leaves. */
        void onEnd();
    }

    private final StreamServices services;
    private final Stream stream;
    private User user;
    private @Nullable Opening opening;
    /** The start of something of which the rest has not arrived. */
    private byte[] kept = NOTHING;
    private int keptLength;
    /** From its position to its limit. */
    private ByteBuffer unsent = EMPTY;
    /** The network has refused bytes; the next read reports the end. */
    private boolean isBroken;
    /** The user has thrown an error and may have used any number of the received bytes: there is no way on. */
    private boolean isGarbled;
    private boolean isClosing;
    /** When a byte has passed last, in either direction. */
    private long progressNs;
    private long lingersUntilNs;
    private boolean isOver;

    /** @param stream the stream, whose handler this object becomes */
    StreamConnection(StreamServices services, Stream stream, User user) {
        this.services = services;
        this.stream = stream;
        this.user = user;
        progressNs = services.engine().timeNs();
        stream.handler(this);
    }

    /** Sets the handler of the outcome, for a requested connection that is not established yet. */
    void opening(Opening asked) {
        opening = asked;
    }

    /** Changes the user of the bytes. */
    void user(User next) {
        user = next;
    }

    /** {@return the address and port of this side} */
    InetSocketAddress local() {
        return stream.local();
    }

    /** {@return those of the other side} */
    InetSocketAddress remote() {
        return stream.remote();
    }

    // ---------------------------------------------------------------- sending

    /** {@return whether something may be sent: the network has accepted all earlier bytes} */
    boolean hasRoom() {
        return !unsent.hasRemaining() && !isOver && !isClosing && !isBroken;
    }

    /** {@return whether the network has not accepted all bytes} */
    boolean hasUnsent() {
        return unsent.hasRemaining();
    }

    /** {@return when a byte has passed last, in either direction} */
    long progressNs() {
        return progressNs;
    }

    /** {@return whether the other side's system has all that was sent, true if that cannot be known} */
    boolean isAcknowledged() {
        return !unsent.hasRemaining() && stream.isAcknowledged();
    }

    /** Sends bytes, and keeps those that the network does not accept. */
    void send(ByteBuffer bytes) {
        if (isOver || isClosing || isBroken) {
            return;
        }
        if (!unsent.hasRemaining() && !write(bytes)) {
            isBroken = true;
            return;
        }
        if (bytes.hasRemaining()) {
            append(bytes);
        }
    }

    /** {@return whether the connection is not broken} */
    private boolean write(ByteBuffer bytes) {
        int length = stream.write(bytes);
        if (length > 0) {
            progressNs = services.engine().timeNs();
        }
        return length != Stream.END;
    }

    private void append(ByteBuffer bytes) {
        int length = unsent.remaining() + bytes.remaining();
        if (unsent.capacity() < length) {
            ByteBuffer larger = services.unsentBuffers().take(length);
            if (larger == null) {
                // The stream cannot go on behind a gap.
                services.engine().count(Counter.SEND_ERR);
                reset();
                reportEnd();
                return;
            }
            larger.put(unsent);
            giveBack();
            unsent = larger;
        } else {
            unsent.compact();
        }
        unsent.put(bytes).flip();
    }

    /** Nothing is left in the buffer, or nothing that is sent. */
    private void giveBack() {
        services.unsentBuffers().give(unsent);
        unsent = EMPTY;
    }

    @Override
    public void onWritable() {
        if (isOver || !write(unsent) || unsent.hasRemaining()) {
            return;
        }
        giveBack();
        if (isClosing) {
            finish();
        } else {
            user.onRoom();
        }
    }

    // ---------------------------------------------------------------- the end

    /**
     * Ends the connection after all sent bytes: closes it as soon as they have left and the peer has closed too, or the time
     * for that is over ({@link LingeringConnections}). Its user is notified of nothing more.
     */
    void close() {
        if (isOver || isClosing) {
            return;
        }
        isClosing = true;
        user = NOBODY;
        kept = NOTHING;
        keptLength = 0;
        if (unsent.hasRemaining()) {
            services.lingering().addUnsent(this, services.engine().timeNs());
        } else {
            finish();
        }
    }

    private void finish() {
        stream.finish();
        services.lingering().addSent(this, services.engine().timeNs());
    }

    /** Sets until when it may linger. */
    void lingerUntil(long ns) {
        lingersUntilNs = ns;
    }

    /** {@return until when it may linger} */
    long lingersUntilNs() {
        return lingersUntilNs;
    }

    /**
     * Ends the lingering. Bytes that the system has accepted still leave; if some were not accepted, the connection is
     * reset, so that the peer knows.
     */
    void letGo() {
        if (unsent.hasRemaining()) {
            services.engine().count(Counter.SEND_ERR);
            reset();
        } else {
            over();
        }
    }

    /** Resets the connection at once. Its user is notified of nothing more. */
    void reset() {
        if (!isOver) {
            stream.reset();
            over();
        }
    }

    private void over() {
        isOver = true;
        services.lingering().remove(this);
        stream.close();
        kept = NOTHING;
        giveBack();
    }

    // ---------------------------------------------------------------- receiving

    private Opening opening() {
        Opening asked = opening;
        if (asked == null) {
            throw new IllegalStateException("it stood from the beginning");
        }
        return asked;
    }

    @Override
    public void onConnected() {
        try {
            opening().onConnected();
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
            reportEnd();
        }
    }

    @Override
    public void onRefused(Errno reason) {
        isOver = true;
        try {
            opening().onRefused(reason);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /**
     * A defect of this library or of the application must not harm other connections: only this one ends, with a log entry.
     */
    private void contain(Throwable defect) {
        Engine.report("the connection with " + remote() + " failed by a defect in its set-up",
                defect);
        reset();
    }

    /**
     * Takes a step of its user that no event of the network causes, such as the end of a wait. A defect in it ends only this
     * connection.
     */
    void take(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
            reportEnd();
        }
    }

    private void reportEnd() {
        try {
            user.onEnd();
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    @Override
    public void onReadable() {
        if (isGarbled) {
            // At the end of a stack it could not even be ended.
            endGarbled();
            return;
        }
        for (int i = 0; i < READS_AT_ONCE && !isOver; i++) {
            ByteBuffer buffer = services.inboundBuffer();
            MemorySegment memory = services.inbound();
            MemorySegment.copy(kept, 0, memory, ValueLayout.JAVA_BYTE, 0, keptLength);
            buffer.limit(buffer.capacity()).position(keptLength);
            int room = buffer.remaining();
            int length = stream.read(buffer);
            if (length == Stream.END) {
                end();
                return;
            }
            if (length == 0) {
                return;
            }
            progressNs = services.engine().timeNs();
            long available = (long) keptLength + length;
            // It gets no byte twice, even if its user throws.
            keptLength = 0;
            long used = useOrEnd(memory, available);
            keep(memory, used, (int) (available - used));
            if (length < room) {
                return;
            }
        }
        services.onMore();
    }

    /** As {@link #use}; after an error nobody knows which bytes were used, so the connection ends. */
    private long useOrEnd(MemorySegment memory, long available) {
        boolean isUsed = false;
        try {
            long used = use(memory, available);
            isUsed = true;
            return used;
        } finally {
            if (!isUsed) {
                isGarbled = true;
                endGarbled();
            }
        }
    }

    private void endGarbled() {
        reset();
        reportEnd();
        isGarbled = false;
    }

    /** The set-up uses its frame, and the queue pair the bytes after it. */
    private long use(MemorySegment memory, long available) {
        if (isClosing) {
            return available;
        }
        long used = 0;
        User before;
        do {
            before = user;
            used += give(before, memory, used, available - used);
        } while (!before.equals(user) && used < available && !isOver && !isClosing);
        return isOver || isClosing ? available : used;
    }

    private long give(User to, MemorySegment memory, long offset, long available) {
        try {
            return to.onBytes(memory, offset, available);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
            reportEnd();
            return available;
        }
    }

    private void keep(MemorySegment memory, long from, int length) {
        if (kept.length < length) {
            kept = new byte[Math.max(length, 2 * kept.length)];
        }
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, kept, 0, length);
        keptLength = length;
    }

    /** The other side, or the network, has ended it. */
    private void end() {
        over();
        if (!isClosing) {
            reportEnd();
        }
    }
}
