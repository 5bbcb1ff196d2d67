// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** A ring that a process has taken which writes what it likes. */
public final class HostileRing {
    private static final int MASK = RingLayout.CAPACITY - 1;

    private final MemorySegment header;
    private final MemorySegment records;
    private int position;
    private boolean hasPiggyback;
    private long piggyback;

    private HostileRing(MemorySegment mailbox, int ring) {
        header = RingLayout.header(mailbox, ring);
        records = mailbox.asSlice(RingLayout.recordsAt(ring), RingLayout.CAPACITY);
        RingLayout.setLong(header, RingLayout.OWNER, 666);
        RingLayout.setInt(header, RingLayout.ACTIVE, 1);
        RingLayout.increment(mailbox, RingLayout.CHANGES_AT);
    }

    /** {@return a ring of a mailbox, null if all are taken} */
    public static @Nullable HostileRing take(MemorySegment mailbox) {
        for (int ring = 0; ring < RingLayout.rings(mailbox); ring++) {
            if (RingLayout.getLong(RingLayout.header(mailbox, ring), RingLayout.OWNER) == 0) {
                return new HostileRing(mailbox, ring);
            }
        }
        return null;
    }

    /** {@return whether the reader reads it no more} */
    public boolean isBroken() {
        return RingLayout.getInt(header, RingLayout.BROKEN) != 0;
    }

    /** The next record carries an acknowledgement. */
    public HostileRing acknowledge(long acknowledgement) {
        hasPiggyback = true;
        piggyback = acknowledgement;
        return this;
    }

    /**
     * Writes a record.
     *
     * @param bytes headers and payload
     * @param headerLength what the record says
     * @param payloadLength what the record says
     * @param isTold whether the record has addresses
     */
    public void write(Gid from, Gid to, byte[] bytes, int headerLength, int payloadLength, int span,
            boolean isTold) {
        int kind = isTold ? RingLayout.PACKET_WITH_ADDRESSES : RingLayout.PACKET;
        int headerFrom = RingLayout.headerAt(kind, hasPiggyback);
        int payloadFrom = RingLayout.payloadAt(headerFrom, headerLength, payloadLength);
        int length = RingLayout.aligned(payloadFrom + payloadLength);
        if (length > RingLayout.MAX_RECORD || RingLayout.CAPACITY - position < length) {
            // Where a careful writer would skip.
            word(position, RingLayout.word(RingLayout.SKIP, 0, 0, RingLayout.CAPACITY - position));
            position = 0;
        }
        int at = position;
        position = (position + length) & MASK;
        records.set(JAVA_LONG, position, 0);
        if (isTold) {
            records.set(JAVA_LONG, at + 8L, from.high());
            records.set(JAVA_LONG, at + 16L, from.low());
            records.set(JAVA_LONG, at + 24L, to.high());
            records.set(JAVA_LONG, at + 32L, to.low());
        }
        int headerAt = at + headerFrom;
        int payloadAt = at + payloadFrom;
        for (int i = 0; i < bytes.length; i++) {
            int to8 = i < headerLength ? headerAt + i : payloadAt + i - headerLength;
            if (to8 < RingLayout.CAPACITY) {
                records.set(JAVA_BYTE, to8, bytes[i]);
            }
        }
        long word = RingLayout.word(kind, headerLength, span, payloadLength);
        if (hasPiggyback) {
            records.set(JAVA_LONG, at + RingLayout.piggybackAt(headerFrom), piggyback);
            word = RingLayout.withPiggyback(word);
            hasPiggyback = false;
        }
        word(at, word);
    }

    /**
     * Writes a record that says where a payload is.
     *
     * @param bytes headers
     * @param place what the record says
     * @param payloadLength what the record says
     */
    public void lend(Gid from, Gid to, byte[] bytes, int payloadLength, int span, long owner,
            int descriptor, long place, long withdrawal) {
        int headerFrom = RingLayout.headerAt(RingLayout.PACKET_WITH_ADDRESSES, false);
        int wordsFrom = RingLayout.lentAt(headerFrom, bytes.length);
        int length = RingLayout.lengthOfLent(headerFrom, bytes.length);
        if (RingLayout.CAPACITY - position < length) {
            word(position, RingLayout.word(RingLayout.SKIP, 0, 0, RingLayout.CAPACITY - position));
            position = 0;
        }
        int at = position;
        position = (position + length) & MASK;
        records.set(JAVA_LONG, position, 0);
        records.set(JAVA_LONG, at + 8L, from.high());
        records.set(JAVA_LONG, at + 16L, from.low());
        records.set(JAVA_LONG, at + 24L, to.high());
        records.set(JAVA_LONG, at + 32L, to.low());
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, records, at + headerFrom,
                bytes.length);
        records.set(JAVA_LONG, at + wordsFrom, owner);
        records.set(JAVA_LONG, at + wordsFrom + RingLayout.LENT_DESCRIPTOR, descriptor);
        records.set(JAVA_LONG, at + wordsFrom + RingLayout.LENT_PLACE, place);
        records.set(JAVA_LONG, at + wordsFrom + RingLayout.LENT_WITHDRAWAL, withdrawal);
        word(at, RingLayout.withLentPayload(RingLayout.word(RingLayout.PACKET_WITH_ADDRESSES,
                bytes.length, span, payloadLength)));
    }

    /**
     * Skips what it says, wherever it stands, and goes on at the beginning.
     *
     * @param length 0 for all that is left of the ring
     */
    public void skip(int length) {
        int rest = RingLayout.CAPACITY - position;
        word(position, RingLayout.word(RingLayout.SKIP, 0, 0, length == 0 ? rest : length));
        position = 0;
    }

    private void word(int at, long value) {
        RingLayout.setLong(records, at, value);
    }

    /** Writes a word anywhere near where it is read. */
    public void scribble(int offset, long value) {
        word((position + 8 * offset) & MASK, value);
    }

    /** Writes into what the reader and other writers look at. The ring stays its own: who gives it away breaks it for others. */
    public void scribbleHeader(int at, long value) {
        long offset = (at & 31) * 8L;
        RingLayout.setLong(header, offset, offset == RingLayout.OWNER ? value | 1 : value);
    }
}
