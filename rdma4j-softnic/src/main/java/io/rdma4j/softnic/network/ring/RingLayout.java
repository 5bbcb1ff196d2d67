// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of the memory of a {@link Mailbox}, and of a record.
 *
 * <pre>
 *      0  magic, version, nonce, number of rings
 *     64  asleep: the number of the reader's sleep; whoever writes something wakes the reader, and then clears it
 *    128  changes: counts rings that were claimed, or are used again, or rest
 *   4096  for each ring 256 bytes: a part that its writer writes, and one that the reader writes
 * 131072  the records of each ring: a multiple of every system's pages
 * </pre>
 *
 * <p>A record starts with a word that is 0 until the record is complete; the writer clears it before it completes the
 * previous record, mostly some records earlier. Bits of the word: 0 to 23 the length of the payload, or of the skipped part; 24 to 35 the number of
 * packets that it represents; 36 to 43 the length of the headers; 44 and 45 the {@link #PACKET kind}; 46 whether there is an
 * acknowledgement; 47 whether the payload is lent. Then follow source and destination, for one kind; the acknowledgement, a {@link
 * io.rdma4j.protocol.roce.wire.Piggyback}; the headers; the payload, which starts at byte 128 if it is long. Instead of a
 * lent payload four words follow at the next multiple of 8: the nonce of the lending device, the
 * descriptor of its pages, where the payload is in them, and 0 until it is withdrawn.
 */
final class RingLayout {
    static final long MAGIC = 0x7264_6d61_346a_6d31L; // "rdma4jm1"
    static final int VERSION = 4;
    static final long MAGIC_AT = 0;
    static final long VERSION_AT = 8;
    static final long NONCE_AT = 16;
    static final long RINGS_AT = 24;
    static final long ASLEEP_AT = 64;
    static final long CHANGES_AT = 128;

    private static final long HEADERS_AT = 4096;
    private static final long HEADER_LENGTH = 256;
    /**
     * Written by the writer: the owner of the ring, as the nonce of the owner's mailbox, which is positive; 0 for no owner.
     */
    static final long OWNER = 0;
    /** The prefix that denotes the reader of the mailbox while it changes a ring; no process has it. */
    static final int READER = 0;
    static final long OWNER_PROCESS = 8;
    static final long OWNER_WAKE = 16;
    static final long OWNER_WAKE_INODE = 32;
    static final long OWNER_PREFIX = 20;
    /** Whether it is {@link #AT_REST}. */
    static final long ACTIVE = 24;
    /** It holds no memory. */
    static final int AT_REST = 0;
    /** It may contain records. */
    static final int IN_USE = 1;
    /** It is empty, and its memory is being given back. If the process dies meanwhile, the memory was not given back. */
    static final int EMPTIED = 2;
    /** 1 while its writer sleeps and waits for room. */
    static final long WANTS_ROOM = 28;
    /** Written by the reader, in another cache line: the total number of bytes read. */
    static final long HEAD = 128;
    /** 1 if the contents are invalid; the ring is not read any more. */
    static final long BROKEN = 136;
    /** 1 if the reader cannot map the writer's pages: lending is no use. */
    static final long CANNOT_BORROW = 140;

    /** The maximum number of rings, which determines the room for their headers. */
    private static final int MOST_RINGS = 256;
    static final long RECORDS_AT = 1 << 17;
    /** Of the records of a ring: small enough to stay in a processor's cache. */
    static final int CAPACITY = 1 << 19;

    static final int ALIGNMENT = 64;
    static final int ADDRESSES_LENGTH = 32;
    static final int WORD_LENGTH = 8;
    /** The start of a long payload: aligned, it is copied faster. */
    static final int LONG_PAYLOAD_AT = 128;
    private static final int LONG_PAYLOAD = 512;
    /** The longest payload of a record; a packet of one path MTU is always shorter. */
    static final int MAX_PAYLOAD = 1 << 16;
    static final int MAX_RECORD = LONG_PAYLOAD_AT + MAX_PAYLOAD;

    /** The shortest payload that is lent: for a shorter one two copies cost less than the way to it. */
    static final int MIN_LENT = 1 << 13;
    /** The longest payload that is lent. */
    static final int MAX_LENT = 1 << 16;
    /** How much a writer lends at a time: what a ring of bytes takes, and twice that, so that the reader does not wait. */
    static final int LENT_AT_A_TIME = 1 << 20;
    /** The words of a lent payload: owner, descriptor, place, withdrawal. */
    private static final int LENT_LENGTH = 32;
    static final int LENT_DESCRIPTOR = 8;
    static final int LENT_PLACE = 16;
    static final int LENT_WITHDRAWAL = 24;

    /** A packet that travels as the one before. */
    static final int PACKET = 1;
    /** A packet with its source and destination. */
    static final int PACKET_WITH_ADDRESSES = 2;
    /** The rest of the ring is skipped. */
    static final int SKIP = 3;

    private static final int SPAN_SHIFT = 24;
    private static final int HEADER_SHIFT = 36;
    private static final int KIND_SHIFT = 44;
    private static final int KIND_MASK = 3;
    private static final int PIGGYBACK_SHIFT = 46;
    private static final int LENT_SHIFT = 47;
    /** All higher bits of a word are 0. */
    private static final int UNUSED_SHIFT = 48;
    private static final int PIGGYBACK_LENGTH = 8;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private RingLayout() {}

    /** {@return the bytes of a mailbox} */
    static long mailboxLength(int rings) {
        if (rings < 1 || rings > MOST_RINGS) {
            throw new IllegalArgumentException("1 to " + MOST_RINGS + " rings, not " + rings);
        }
        return recordsAt(rings);
    }

    /** {@return how many rings a mailbox of a length has} */
    static int ringsOf(long length) {
        return (int) ((length - RECORDS_AT) / CAPACITY);
    }

    /** {@return the value of the owner field while the process of a prefix changes the ring's header} */
    static long changing(int prefix) {
        return Long.MIN_VALUE | prefix;
    }

    /** {@return the prefix of the process that owns or changes a ring} */
    static int prefix(MemorySegment header, long owner) {
        int stated = header.get(ValueLayout.JAVA_INT, OWNER_PREFIX);
        // The stored prefix may be a predecessor's while the ring is changed.
        return (owner < 0 ? (int) owner : stated) & 0xff;
    }

    /** {@return the number of rings that a mailbox states} */
    static int rings(MemorySegment mailbox) {
        return Math.clamp(mailbox.get(ValueLayout.JAVA_INT, RINGS_AT), 0, MOST_RINGS);
    }

    static MemorySegment header(MemorySegment mailbox, int ring) {
        return mailbox.asSlice(HEADERS_AT + ring * HEADER_LENGTH, HEADER_LENGTH);
    }

    static long recordsAt(int ring) {
        return RECORDS_AT + (long) ring * CAPACITY;
    }

    // ---------------------------------------------------------------- words of records

    static long word(int kind, int headerLength, int span, int payloadLength) {
        return (long) kind << KIND_SHIFT | (long) headerLength << HEADER_SHIFT
                | (long) span << SPAN_SHIFT | payloadLength;
    }

    /** {@return the word of a packet that carries an acknowledgement} */
    static long withPiggyback(long word) {
        return word | 1L << PIGGYBACK_SHIFT;
    }

    /** {@return the word of a packet whose payload is lent} */
    static long withLentPayload(long word) {
        return word | 1L << LENT_SHIFT;
    }

    static boolean isLent(long word) {
        return (word >>> LENT_SHIFT & 1) != 0;
    }

    static int kind(long word) {
        return (int) (word >>> KIND_SHIFT) & KIND_MASK;
    }

    static boolean hasPiggyback(long word) {
        return (word >>> PIGGYBACK_SHIFT & 1) != 0;
    }

    /** {@return whether bits are set that mean nothing} */
    static boolean hasUnused(long word) {
        return word >>> UNUSED_SHIFT != 0;
    }

    static int headerLength(long word) {
        return (int) (word >>> HEADER_SHIFT) & 0xff;
    }

    static int span(long word) {
        return (int) (word >>> SPAN_SHIFT) & 0xfff;
    }

    static int payloadLength(long word) {
        return (int) word & 0xff_ffff;
    }

    /** {@return the offset of the headers in a record; a piggyback is right before them} */
    static int headerAt(int kind, boolean hasPiggyback) {
        return WORD_LENGTH + (kind == PACKET_WITH_ADDRESSES ? ADDRESSES_LENGTH : 0)
                + (hasPiggyback ? PIGGYBACK_LENGTH : 0);
    }

    /** {@return the offset of the payload in a record} */
    static int payloadAt(int headerAt, int headerLength, int payloadLength) {
        return payloadLength >= LONG_PAYLOAD ? LONG_PAYLOAD_AT : headerAt + headerLength;
    }

    /** {@return the offset of the piggyback in a record that has one} */
    static int piggybackAt(int headerAt) {
        return headerAt - PIGGYBACK_LENGTH;
    }

    /** {@return the offset, in a record, of the words that say where a lent payload is} */
    static int lentAt(int headerAt, int headerLength) {
        return headerAt + headerLength + Long.BYTES - 1 & -Long.BYTES;
    }

    /** {@return the length of a record with a lent payload} */
    static int lengthOfLent(int headerAt, int headerLength) {
        return aligned(lentAt(headerAt, headerLength) + LENT_LENGTH);
    }

    static int aligned(int length) {
        return (length + ALIGNMENT - 1) & -ALIGNMENT;
    }

    // ---------------------------------------------------------------- what several processes read and write

    static int getInt(MemorySegment memory, long at) {
        return (int) INT.getAcquire(memory, at);
    }

    static void setInt(MemorySegment memory, long at, int value) {
        INT.setRelease(memory, at, value);
    }

    static boolean exchangeInt(MemorySegment memory, long at, int expected, int value) {
        return INT.compareAndSet(memory, at, expected, value);
    }

    static void increment(MemorySegment memory, long at) {
        int _ = (int) INT.getAndAdd(memory, at, 1);
    }

    static long getLong(MemorySegment memory, long at) {
        return (long) LONG.getAcquire(memory, at);
    }

    static void setLong(MemorySegment memory, long at, long value) {
        LONG.setRelease(memory, at, value);
    }

    static boolean exchangeLong(MemorySegment memory, long at, long expected, long value) {
        return LONG.compareAndSet(memory, at, expected, value);
    }
}
