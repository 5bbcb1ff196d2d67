// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;

import static io.rdma4j.softnic.network.ring.RingLayout.ADDRESSES_LENGTH;
import static io.rdma4j.softnic.network.ring.RingLayout.CAPACITY;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** Writes packets into a ring that another process reads. For one thread at a time. */
final class RingWriter {
    private static final int MASK = CAPACITY - 1;

    private final MemorySegment header;
    private final MemorySegment records;
    /** The total number of bytes written. */
    private long position;
    /** The reader's position at the last check. */
    private long head;
    /** Of the last packet. */
    private Path last = Path.NONE;

    /**
     * Continues where the previous writer of the ring has stopped.
     *
     * @param header the header of the ring
     * @param records its memory for records
     * @throws IllegalStateException if its contents are invalid
     */
    RingWriter(MemorySegment header, MemorySegment records) {
        this.header = header;
        this.records = records;
        head = RingLayout.getLong(header, RingLayout.HEAD);
        position = head;
        if (head < 0 || (head & RingLayout.ALIGNMENT - 1) != 0) {
            throw new IllegalStateException("no position: " + head);
        }
        for (long word = wordAt(position); word != 0; word = wordAt(position)) {
            int length = RecordCheck.length(word, (int) position & MASK);
            if (length < 0 || position + length - head > CAPACITY) {
                throw new IllegalStateException("no record: " + word);
            }
            position += length;
        }
    }

    private long wordAt(long at) {
        return RingLayout.getLong(records, at & MASK);
    }

    /** {@return whether there is room for a record of any length} */
    boolean hasRoom() {
        return hasRoom(RingLayout.MAX_RECORD);
    }

    private boolean hasRoom(int length) {
        long wanted = endOf(length);
        if (wanted - head <= CAPACITY) {
            return true;
        }
        look();
        return wanted - head <= CAPACITY;
    }

    /** {@return the end of a record of some length} */
    private long endOf(int length) {
        // The rest at the end may have to be skipped, and the word after the record is 0.
        int rest = CAPACITY - ((int) position & MASK);
        return position + length + RingLayout.ALIGNMENT + (rest < length ? rest : 0);
    }

    /**
     * As {@link #hasRoom()}, for any thread; the result may be wrong while another thread writes.
     */
    boolean hasRoomNow() {
        long read = RingLayout.getLong(header, RingLayout.HEAD);
        return endOf(RingLayout.MAX_RECORD) - read <= CAPACITY;
    }

    /** Reads the reader's position, and ignores an impossible one. */
    private void look() {
        long now = RingLayout.getLong(header, RingLayout.HEAD);
        if (now > head && now <= position) {
            head = now;
        }
    }

    /** {@return the reader's position at the last check} */
    long head() {
        return head;
    }

    /** {@return whether the reader has found no sense in the ring} */
    boolean isBroken() {
        return RingLayout.getInt(header, RingLayout.BROKEN) != 0;
    }

    /** {@return whether all that was written is read} */
    boolean isEmpty() {
        look();
        return head == position;
    }

    /** The outcome of writing a packet. */
    enum Outcome {
        WRITTEN,
        /** There is no room for it. */
        FULL,
        /** The memory of its payload no longer exists; nothing was written. */
        PAYLOAD_GONE
    }

    /** Writes a packet. The reader sees all of it, or nothing. */
    Outcome write(OutgoingPacket packet) {
        Path path = packet.path();
        boolean isAsBefore = isAsLast(path);
        int kind = isAsBefore ? RingLayout.PACKET : RingLayout.PACKET_WITH_ADDRESSES;
        int headerLength = packet.headerLength();
        int payloadLength = packet.payloadLength();
        boolean hasPiggyback = packet.hasPiggyback();
        int headerAt = RingLayout.headerAt(kind, hasPiggyback);
        int payloadAt = RingLayout.payloadAt(headerAt, headerLength, payloadLength);
        int length = RingLayout.aligned(payloadAt + payloadLength);
        if (!hasRoom(length)) {
            return Outcome.FULL;
        }
        int index = (int) position & MASK;
        int rest = CAPACITY - index;
        boolean mustSkip = rest < length;
        int at = mustSkip ? 0 : index;
        if (!isAsBefore) {
            writeAddresses(at + RingLayout.WORD_LENGTH, path.source(), path.destination());
        }
        long word = RingLayout.word(kind, headerLength, packet.span(), payloadLength);
        if (hasPiggyback) {
            word = RingLayout.withPiggyback(word);
            records.set(JAVA_LONG, at + RingLayout.piggybackAt(headerAt), packet.piggyback());
        }
        packet.copyHeadersTo(records, at + (long) headerAt);
        if (!packet.copyPayloadTo(records, at + (long) payloadAt)) {
            return Outcome.PAYLOAD_GONE;
        }
        last = path;
        records.set(JAVA_LONG, at + length & MASK, 0);
        RingLayout.setLong(records, at, word);
        if (mustSkip) {
            RingLayout.setLong(records, index, RingLayout.word(RingLayout.SKIP, 0, 0, rest));
            position += rest;
        }
        position += length;
        return Outcome.WRITTEN;
    }

    /** {@return whether a packet travels between the same addresses as the last one} Mostly it is of the same queue pair. */
    @SuppressWarnings("ReferenceEquality")
    private boolean isAsLast(Path path) {
        return path == last || (path.destination().equals(last.destination())
                && path.source().equals(last.source()));
    }

    private void writeAddresses(int at, Gid from, Gid to) {
        records.set(JAVA_LONG, at, from.high());
        records.set(JAVA_LONG, at + 8L, from.low());
        records.set(JAVA_LONG, at + 16L, to.high());
        records.set(JAVA_LONG, at + ADDRESSES_LENGTH - 8L, to.low());
    }
}
