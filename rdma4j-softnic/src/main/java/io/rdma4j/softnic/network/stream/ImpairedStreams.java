// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;

/**
 * Impairs the streams of another network: writes are delayed, damaged or stalled, or end their connection. A seed determines
 * what happens.
 *
 * <p>No call waits. Delayed bytes are kept until {@link #poll} finds them due. A stream keeps at most a mebibyte
 * and accepts no more then, as if its peer did not read.
 */
public final class ImpairedStreams extends ForwardingStreams {
    /** How long a stalled stream pauses: longer than any immediate response takes, shorter than any time limit. */
    static final long STALL_NS = 500_000_000;

    private static final int MOST_KEPT = 1 << 20;
    private static final int UNREAD_BYTES = 1 << 16;

    private final Impairment impairment;
    private final Random random;
    private final Random bits;
    /** Receives bytes that are discarded. */
    private final ByteBuffer unread = ByteBuffer.allocate(UNREAD_BYTES);
    /** Those that keep something. */
    private final Set<Impaired> keeping = new LinkedHashSet<>();
    /** Streams that were cut, whose users were not notified yet. */
    private final List<Impaired> broken = new ArrayList<>();
    private volatile long nextDueNs = Long.MAX_VALUE;
    private boolean isClosed;

    /**
     * @param impairment the impairment of writes, of which delay, jitter, corruption, stalls, cuts and resets apply; a
     *        stream cannot lose, repeat or reorder bytes
     */
    public ImpairedStreams(StreamNetwork network, Impairment impairment) {
        super(network);
        this.impairment = impairment;
        random = new Random(impairment.seed());
        bits = new Random(~impairment.seed());
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        return network.listen(at, backlog, accepted -> handler.onStream(new Impaired(accepted)));
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        return new Impaired(network.connect(source, destination));
    }

    // ---------------------------------------------------------------- working

    @Override
    public boolean poll() {
        boolean hasHappened = !broken.isEmpty();
        for (Impaired each : List.copyOf(broken)) {
            each.reportEnd();
        }
        if (nextDueNs != Long.MAX_VALUE && nextDueNs - System.nanoTime() <= 0) {
            hasHappened = true;
            List.copyOf(keeping).forEach(Impaired::release);
            lookAtNextDue();
        }
        return network.poll() || hasHappened;
    }

    @Override
    public boolean pollBriefly() {
        return poll();
    }

    private void lookAtNextDue() {
        long first = Long.MAX_VALUE;
        for (Impaired each : keeping) {
            first = Math.min(first, each.dueNs());
        }
        nextDueNs = first;
    }

    /** Notes a due time, and wakes the waiting thread if it is earlier than that thread expects. */
    private void onDue(long dueNs) {
        if (dueNs < nextDueNs) {
            nextDueNs = dueNs;
            network.wake();
        }
    }

    @Override
    public void await(long timeoutNs) {
        network.await(untilDue(timeoutNs));
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        return network.await(untilDue(timeoutNs), selector);
    }

    private long untilDue(long timeoutNs) {
        long due = nextDueNs;
        return due == Long.MAX_VALUE
                ? timeoutNs
                : Math.max(0, Math.min(timeoutNs, due - System.nanoTime()));
    }

    @Override
    public void close() {
        isClosed = true;
        network.close();
    }

    /** Bytes, and when they leave. */
    private record Kept(ByteBuffer bytes, long dueNs) {}

    private final class Impaired extends ForwardingStream {
        private final Queue<Kept> kept = new ArrayDeque<>();
        private int keptLength;
        private long lastDueNs = Long.MIN_VALUE;
        /** The system accepts nothing at present. */
        private boolean isFull;
        private boolean isRoomWanted;
        private boolean isFinishing;
        private boolean isClosing;
        private boolean isBroken;

        Impaired(Stream stream) {
            super(stream);
        }

        @Override
        public int read(ByteBuffer into) {
            return isBroken || isClosing ? END : super.read(into);
        }

        // ------------------------------------------------------------ writing

        /** Each draws the same number of random numbers, so that a share changed leaves the others as they were. */
        @Override
        public int write(ByteBuffer from) {
            if (isBroken || isFinishing || isClosing) {
                return END;
            }
            if (keptLength >= MOST_KEPT) {
                isRoomWanted = true;
                return 0;
            }
            boolean isDamaged = random.nextDouble() < impairment.corruption();
            boolean isStalled = random.nextDouble() < impairment.stall();
            boolean isCut = random.nextDouble() < impairment.cut();
            boolean isReset = random.nextDouble() < impairment.reset();
            long late = impairment.delay().toNanos()
                    + (long) (random.nextDouble() * impairment.jitter().toNanos())
                    + (isStalled ? STALL_NS : 0);
            if (isReset || isCut) {
                return breakIn(from, isReset);
            }
            if (late == 0 && kept.isEmpty() && !isDamaged) {
                return super.write(from);
            }
            return keep(from, isDamaged, late);
        }

        @Override
        public boolean isAcknowledged() {
            return isBroken || (kept.isEmpty() && super.isAcknowledged());
        }

        /**
         * Cuts the stream in the middle of a write: earlier bytes leave if they are due, then half of this write, and
         * nothing more.
         */
        private int breakIn(ByteBuffer from, boolean isReset) {
            writeKept(System.nanoTime());
            if (kept.isEmpty()) {
                super.write(from.duplicate().limit(from.position() + from.remaining() / 2));
            }
            isBroken = true;
            forget();
            if (isReset) {
                super.reset();
            } else {
                super.close();
            }
            broken.add(this);
            onDue(System.nanoTime());
            return END;
        }

        /** Keeps bytes for later. {@return how many there was room for} */
        private int keep(ByteBuffer from, boolean isDamaged, long late) {
            int length = Math.min(from.remaining(), MOST_KEPT - keptLength);
            isRoomWanted = length < from.remaining();
            ByteBuffer bytes = ByteBuffer.allocate(length).put(0, from, from.position(), length);
            from.position(from.position() + length);
            if (isDamaged && length > 0) {
                int at = bits.nextInt(length);
                bytes.put(at, (byte) (bytes.get(at) ^ (1 << bits.nextInt(Byte.SIZE))));
            }
            long nowNs = System.nanoTime();
            lastDueNs = kept.isEmpty() ? nowNs + late : Math.max(lastDueNs, nowNs + late);
            kept.add(new Kept(bytes, lastDueNs));
            keptLength += length;
            keeping.add(this);
            onDue(dueNs());
            return length;
        }

        /** {@return when the next bytes are due} */
        long dueNs() {
            Kept first = kept.peek();
            return first == null || isFull ? Long.MAX_VALUE : first.dueNs;
        }

        /** Sends due bytes, as far as the system accepts them; then performs a pending close or finish, or reports room. */
        void release() {
            writeKept(System.nanoTime());
            if (kept.isEmpty() && isClosing) {
                super.close();
            } else if (kept.isEmpty() && isFinishing) {
                super.finish();
            } else if (isRoomWanted && keptLength < MOST_KEPT) {
                isRoomWanted = false;
                super.onWritable();
            }
        }

        /** Writes the bytes that are due at a time. */
        private void writeKept(long nowNs) {
            for (Kept first = kept.peek(); first != null && !isFull
                    && first.dueNs - nowNs <= 0; first = kept.peek()) {
                int length = super.write(first.bytes);
                if (length == END) {
                    // The next read reports the end.
                    forget();
                    return;
                }
                keptLength -= length;
                isFull = first.bytes.hasRemaining();
                if (!isFull) {
                    kept.remove();
                }
            }
            if (kept.isEmpty()) {
                keeping.remove(this);
            }
        }

        private void forget() {
            kept.clear();
            keptLength = 0;
            keeping.remove(this);
        }

        // ------------------------------------------------------------ ending

        /** Notifies the user of a cut stream, which then reads the end. */
        void reportEnd() {
            broken.remove(this);
            super.onReadable();
        }

        @Override
        public void finish() {
            isFinishing = true;
            if (kept.isEmpty()) {
                super.finish();
            }
        }

        @Override
        public void close() {
            broken.remove(this);
            isClosing = true;
            if (isFinishing) {
                // The caller has waited for the remaining bytes to be sent, and waits no longer.
                forget();
            }
            if (kept.isEmpty() || isClosed) {
                super.close();
            }
        }

        @Override
        public void reset() {
            broken.remove(this);
            forget();
            super.reset();
        }

        // ------------------------------------------------------------ what the system tells

        @Override
        public void onReadable() {
            if (!isClosing) {
                super.onReadable();
                return;
            }
            // The user no longer reads, and unread bytes would be reported again and again.
            int length = super.read(unread.clear());
            while (length > 0) {
                length = super.read(unread.clear());
            }
            if (length == END) {
                // Sends all delayed bytes now, the last time that it is possible.
                writeKept(lastDueNs);
                super.close();
                forget();
            }
        }

        @Override
        public void onWritable() {
            if (!isFull && kept.isEmpty()) {
                if (!isClosing) {
                    super.onWritable();
                }
                return;
            }
            isFull = false;
            release();
            onDue(dueNs());
        }
    }
}
