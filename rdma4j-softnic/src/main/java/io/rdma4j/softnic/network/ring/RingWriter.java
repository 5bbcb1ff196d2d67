// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import static io.rdma4j.softnic.network.ring.RingLayout.ADDRESSES_LENGTH;
import static io.rdma4j.softnic.network.ring.RingLayout.CAPACITY;
import static io.rdma4j.softnic.network.ring.RingLayout.LENT_AT_A_TIME;
import static io.rdma4j.softnic.network.ring.RingLayout.MAX_LENT;
import static io.rdma4j.softnic.network.ring.RingLayout.MIN_LENT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** Writes packets into a ring that another process reads. For one thread at a time. */
final class RingWriter {
    private static final int MASK = CAPACITY - 1;
    /** How many bytes in front of the next record are kept clear: a few records of short messages. */
    private static final int CLEARED = 512;
    /**
     * How much is written between two looks at the reader's position, at most. Without need once a round of the ring would do, but code that
     * was compiled before its first look would be thrown away by it, and compiled again (ADR 69).
     */
    private static final int BETWEEN_LOOKS = CAPACITY / 8;

    private final MemorySegment header;
    private final MemorySegment records;
    private final Loans loans;
    private @Nullable Lender lender;
    /** What the reader has to have read before more is lent; for any thread. */
    private volatile long lendsAgainAt;
    /** The total number of bytes written. */
    private long position;
    /** The reader's position at the last check. */
    private long head;
    /** Where it looks again. */
    private long looksAt;
    /** From {@link #position} up to here a word is 0 wherever a record may begin. */
    private long clearTo;
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
        loans = new Loans(records);
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
        clearTo = position + RingLayout.ALIGNMENT;
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
        if (wanted - head <= CAPACITY && position < looksAt && mayLend()) {
            return true;
        }
        look();
        looksAt = position + BETWEEN_LOOKS;
        return wanted - head <= CAPACITY && mayLend();
    }

    /** {@return whether no more is lent than a reader reads in a turn} Otherwise other queue pairs would wait too long. */
    private boolean mayLend() {
        if (loans.lentBytes() <= LENT_AT_A_TIME - MAX_LENT) {
            return true;
        }
        loans.returned(head);
        if (loans.lentBytes() <= LENT_AT_A_TIME - MAX_LENT) {
            return true;
        }
        lendsAgainAt = loans.positionOf(LENT_AT_A_TIME / 2);
        return false;
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
        return endOf(RingLayout.MAX_RECORD) - read <= CAPACITY && read >= lendsAgainAt;
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
        /** Written, but for its payload, which the reader is to copy from where it lies. */
        LENT,
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
        long place = placeToLend(packet);
        boolean isLent = place >= 0;
        int payloadAt = isLent
                ? RingLayout.lentAt(headerAt, headerLength)
                : RingLayout.payloadAt(headerAt, headerLength, payloadLength);
        int length = isLent
                ? RingLayout.lengthOfLent(headerAt, headerLength)
                : RingLayout.aligned(payloadAt + payloadLength);
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
        if (isLent) {
            word = RingLayout.withLentPayload(word);
            writePlace(at + payloadAt, place);
        } else if (!packet.copyPayloadTo(records, at + (long) payloadAt)) {
            // Some of it may have been copied.
            clearTo = position + RingLayout.ALIGNMENT;
            return Outcome.PAYLOAD_GONE;
        }
        last = path;
        long end = position + (mustSkip ? rest : 0) + length;
        clear(end, end + RingLayout.ALIGNMENT);
        RingLayout.setLong(records, at, word);
        if (mustSkip) {
            RingLayout.setLong(records, index, RingLayout.word(RingLayout.SKIP, 0, 0, rest));
        }
        position = end;
        // After the reader can see the record.
        clear(end, Math.min(end + CLEARED, head + CAPACITY));
        if (!isLent) {
            return Outcome.WRITTEN;
        }
        lent(packet, place, at + payloadAt + RingLayout.LENT_WITHDRAWAL);
        return Outcome.LENT;
    }

    /**
     * Clears what is not clear yet. The lines of memory that the next records come to are then in this processor's cache already:
     * to fetch them from the reader's takes longer than anything else about a short message.
     *
     * @param from not before {@link #position}
     */
    private void clear(long from, long to) {
        for (long at = Math.max(from, clearTo); at < to; at += RingLayout.ALIGNMENT) {
            records.set(JAVA_LONG, at & MASK, 0);
        }
        clearTo = Math.max(clearTo, to);
    }

    /** {@return whether a packet travels between the same addresses as the last one} Mostly it is of the same queue pair. */
    @SuppressWarnings("ReferenceEquality")
    private boolean isAsLast(Path path) {
        return path == last || (path.destination().equals(last.destination())
                && path.source().equals(last.source()));
    }

    // ---------------------------------------------------------------- lending

    /** From now on it may lend payloads. */
    void lendFrom(Lender from) {
        lender = from;
    }

    /**
     * {@return where the payload is in the pages that can be lent, {@link Registration#NOT_SHARED} if it is to be copied} Only
     * a reliable queue pair leaves its memory alone until the peer has read it.
     */
    private long placeToLend(OutgoingPacket packet) {
        int length = packet.payloadLength();
        if (length < MIN_LENT || length > MAX_LENT || lender == null) {
            return Registration.NOT_SHARED;
        }
        Registration registration = packet.registration();
        if (registration == null || registration.sharedAt() < 0
                || packet.opcode().service() != Opcode.Service.RC
                || RingLayout.getInt(header, RingLayout.CANNOT_BORROW) != 0) {
            return Registration.NOT_SHARED;
        }
        long place = registration.sharedAt() + packet.pieceOffset(0);
        return LentSection.isInOne(place, length) ? place : Registration.NOT_SHARED;
    }

    private void writePlace(int at, long place) {
        Lender from = Objects.requireNonNull(lender);
        records.set(JAVA_LONG, at, from.nonce());
        records.set(JAVA_LONG, at + RingLayout.LENT_DESCRIPTOR, from.descriptor());
        records.set(JAVA_LONG, at + RingLayout.LENT_PLACE, place);
        records.set(JAVA_LONG, at + RingLayout.LENT_WITHDRAWAL, 0);
    }

    private void lent(OutgoingPacket packet, long place, int withdrawalAt) {
        loans.returned(head);
        loans.add(Objects.requireNonNull(packet.registration()),
                packet.opcode().isResponse()
                        ? Loans.NO_QUEUE_PAIR
                        : packet.destinationQueuePairNumber(),
                place, packet.payloadLength(), position, withdrawalAt);
    }

    /** {@return what is lent and not returned} */
    Loans loans() {
        look();
        loans.returned(head);
        return loans;
    }

    private void writeAddresses(int at, Gid from, Gid to) {
        records.set(JAVA_LONG, at, from.high());
        records.set(JAVA_LONG, at + 8L, from.low());
        records.set(JAVA_LONG, at + 16L, to.high());
        records.set(JAVA_LONG, at + ADDRESSES_LENGTH - 8L, to.low());
    }
}
