// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.bytes.Layouts;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The headers of a packet, as numbers. They are written to memory once, and read from it once, each field by one access: so
 * memory that another process changes meanwhile cannot show two values of one field. Only the fields of the headers that the
 * opcode has mean anything.
 *
 * <p>Source: IBTA 9.2 to 9.5; for FLUSH annex A19.
 */
final class PacketHeaders {
    /** Of each packet; what {@link MemorySegment#get} looks up first. */
    private static final VarHandle U64 = Layouts.U64.varHandle();
    private static final VarHandle U32 = Layouts.U32.varHandle();

    private static final int SOLICITED = 0x80;
    private static final int PAD_SHIFT = 4;
    private static final int PAD_MASK = 3;
    private static final int VERSION_MASK = 0x0f;
    private static final int ACKNOWLEDGE_REQUEST = 1 << 31;
    private static final int OPCODE_SHIFT = 56;
    private static final int FLAGS_SHIFT = 48;
    private static final int PAD_OF_FIRST_SHIFT = FLAGS_SHIFT + PAD_SHIFT;
    private static final int PKEY_SHIFT = 32;
    /** In the base header: the PSN, in one word with the request for an acknowledgement. */
    private static final int PSN_AT = 8;

    Opcode opcode = Opcode.RC_ACKNOWLEDGE;
    /** The first eight bytes of the base header: opcode, flags, partition key, destination. */
    private long first;
    private int psnAndRequest;
    /** RETH and AtomicETH. */
    long address;
    /** RETH and AtomicETH. */
    int rkey;
    /** RETH. */
    int dmaLength;
    /** AETH: syndrome and message sequence number. */
    int acknowledgement;
    /** ImmDt or IETH; no packet has both. */
    int immediateOrKey;
    /** DETH. */
    int qkey;
    /** DETH. */
    int sourceQueuePair;
    /** AtomicETH. */
    long swapAdd;
    /** AtomicETH. */
    long compare;
    /** AtomicAckETH. */
    long original;
    /** FETH. */
    int flush;

    /** Sets the base header. */
    void begin(Opcode newOpcode, int pkey, int destinationQueuePair, int psn,
            boolean acknowledgeRequest, boolean solicited) {
        opcode = newOpcode;
        first = (long) newOpcode.code() << OPCODE_SHIFT
                | (solicited ? (long) SOLICITED << FLAGS_SHIFT : 0)
                | (long) pkey << PKEY_SHIFT | (destinationQueuePair & Psn.MASK);
        psnAndRequest = psn | (acknowledgeRequest ? ACKNOWLEDGE_REQUEST : 0);
    }

    /** Sets the number of zero bytes behind the payload. */
    void padding(int bytes) {
        first = (first & ~((long) PAD_MASK << PAD_OF_FIRST_SHIFT))
                | (long) bytes << PAD_OF_FIRST_SHIFT;
    }

    /** {@return the byte of the opcode, also if there is no such opcode} */
    int code() {
        return (int) (first >>> OPCODE_SHIFT);
    }

    boolean isSolicited() {
        return (flags() & SOLICITED) != 0;
    }

    int padding() {
        return flags() >>> PAD_SHIFT & PAD_MASK;
    }

    int version() {
        return flags() & VERSION_MASK;
    }

    private int flags() {
        return (int) (first >>> FLAGS_SHIFT) & 0xff;
    }

    int pkey() {
        return (int) (first >>> PKEY_SHIFT) & 0xffff;
    }

    int destinationQueuePair() {
        return (int) first & Psn.MASK;
    }

    int psn() {
        return psnAndRequest & Psn.MASK;
    }

    boolean isAcknowledgeRequested() {
        return psnAndRequest < 0;
    }

    // ---------------------------------------------------------------- in memory

    /** Reads the base header. {@return false if its opcode is unknown; then nothing else of it means anything} */
    boolean readBase(MemorySegment memory, long at) {
        first = (long) U64.get(memory, at);
        Opcode found = Opcode.of(code());
        if (found == null) {
            return false;
        }
        opcode = found;
        psnAndRequest = (int) U32.get(memory, at + PSN_AT);
        return true;
    }

    /**
     * Reads the other headers; there are as many bytes as the opcode wants. Each has a method of its own, so that none is compiled before
     * it is used: what C1 makes of one access is long (ADR 69).
     */
    void readExtended(MemorySegment memory, long at) {
        if (opcode.headerLength() == Opcode.BTH_LENGTH) {
            return;
        }
        if (opcode.hasDatagram()) {
            readDatagram(memory, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasFlush()) {
            readFlush(memory, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasRdma()) {
            readRdma(memory, at + opcode.offset(Opcode.Header.RETH));
        }
        if (opcode.hasAtomic()) {
            readAtomic(memory, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasAcknowledgement()) {
            readAcknowledgement(memory, at + opcode.offset(Opcode.Header.AETH));
        }
        if (opcode.hasAtomicAcknowledgement()) {
            readOriginal(memory, at + opcode.offset(Opcode.Header.ATOMIC_ACK));
        }
        if (opcode.hasImmediate()) {
            readImmediateOrKey(memory, at + opcode.offset(Opcode.Header.IMMEDIATE));
        } else if (opcode.hasInvalidate()) {
            readImmediateOrKey(memory, at + opcode.offset(Opcode.Header.INVALIDATE));
        }
    }

    private void readDatagram(MemorySegment memory, long from) {
        qkey = (int) U32.get(memory, from);
        sourceQueuePair = (int) U32.get(memory, from + 4) & Psn.MASK;
    }

    private void readFlush(MemorySegment memory, long from) {
        flush = (int) U32.get(memory, from);
    }

    private void readRdma(MemorySegment memory, long from) {
        address = (long) U64.get(memory, from);
        long keyAndLength = (long) U64.get(memory, from + 8);
        rkey = (int) (keyAndLength >>> Integer.SIZE);
        dmaLength = (int) keyAndLength;
    }

    private void readAtomic(MemorySegment memory, long from) {
        address = (long) U64.get(memory, from);
        rkey = (int) U32.get(memory, from + 8);
        swapAdd = (long) U64.get(memory, from + 12);
        compare = (long) U64.get(memory, from + 20);
    }

    private void readAcknowledgement(MemorySegment memory, long from) {
        acknowledgement = (int) U32.get(memory, from);
    }

    private void readOriginal(MemorySegment memory, long from) {
        original = (long) U64.get(memory, from);
    }

    private void readImmediateOrKey(MemorySegment memory, long from) {
        immediateOrKey = (int) U32.get(memory, from);
    }

    /** Writes the headers of one packet, {@link Opcode#headerLength} bytes. */
    void write(MemorySegment memory, long at) {
        writeBase(memory, at, psnAndRequest);
        writeExtended(memory, at);
    }

    /**
     * As {@link #write}, for one of the packets that this one represents.
     *
     * @param index 0 for the first
     * @param isLast whether it is the last, which alone may ask for an acknowledgement
     */
    void write(int index, boolean isLast, MemorySegment memory, long at) {
        int request = isLast ? psnAndRequest & ACKNOWLEDGE_REQUEST : 0;
        writeBase(memory, at, Psn.wrap((long) psnAndRequest + index) | request);
        writeExtended(memory, at);
    }

    private void writeBase(MemorySegment memory, long at, int psn) {
        U64.set(memory, at, first);
        U32.set(memory, at + PSN_AT, psn);
    }

    private void writeExtended(MemorySegment memory, long at) {
        if (opcode.headerLength() == Opcode.BTH_LENGTH) {
            return;
        }
        if (opcode.hasDatagram()) {
            writeDatagram(memory, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasFlush()) {
            writeFlush(memory, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasRdma()) {
            writeRdma(memory, at + opcode.offset(Opcode.Header.RETH));
        }
        if (opcode.hasAtomic()) {
            writeAtomic(memory, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasAcknowledgement()) {
            writeAcknowledgement(memory, at + opcode.offset(Opcode.Header.AETH));
        }
        if (opcode.hasAtomicAcknowledgement()) {
            writeOriginal(memory, at + opcode.offset(Opcode.Header.ATOMIC_ACK));
        }
        if (opcode.hasImmediate()) {
            writeImmediateOrKey(memory, at + opcode.offset(Opcode.Header.IMMEDIATE));
        } else if (opcode.hasInvalidate()) {
            writeImmediateOrKey(memory, at + opcode.offset(Opcode.Header.INVALIDATE));
        }
    }

    private void writeDatagram(MemorySegment memory, long to) {
        U32.set(memory, to, qkey);
        U32.set(memory, to + 4, sourceQueuePair);
    }

    private void writeFlush(MemorySegment memory, long to) {
        U32.set(memory, to, flush);
    }

    private void writeRdma(MemorySegment memory, long to) {
        U64.set(memory, to, address);
        U64.set(memory, to + 8,
                (long) rkey << Integer.SIZE | Integer.toUnsignedLong(dmaLength));
    }

    private void writeAtomic(MemorySegment memory, long to) {
        U64.set(memory, to, address);
        U32.set(memory, to + 8, rkey);
        U64.set(memory, to + 12, swapAdd);
        U64.set(memory, to + 20, compare);
    }

    private void writeAcknowledgement(MemorySegment memory, long to) {
        U32.set(memory, to, acknowledgement);
    }

    private void writeOriginal(MemorySegment memory, long to) {
        U64.set(memory, to, original);
    }

    private void writeImmediateOrKey(MemorySegment memory, long to) {
        U32.set(memory, to, immediateOrKey);
    }
}
