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

    /** Reads the other headers; there are as many bytes as the opcode wants. */
    void readExtended(MemorySegment memory, long at) {
        if (opcode.headerLength() == Opcode.BTH_LENGTH) {
            return;
        }
        if (opcode.hasDatagram()) {
            qkey = memory.get(Layouts.U32, at + Opcode.BTH_LENGTH);
            sourceQueuePair = memory.get(Layouts.U32, at + Opcode.BTH_LENGTH + 4) & Psn.MASK;
        }
        if (opcode.hasFlush()) {
            flush = memory.get(Layouts.U32, at + Opcode.BTH_LENGTH);
        }
        if (opcode.hasRdma()) {
            long from = at + opcode.offset(Opcode.Header.RETH);
            address = memory.get(Layouts.U64, from);
            long keyAndLength = memory.get(Layouts.U64, from + 8);
            rkey = (int) (keyAndLength >>> Integer.SIZE);
            dmaLength = (int) keyAndLength;
        }
        if (opcode.hasAtomic()) {
            address = memory.get(Layouts.U64, at + Opcode.BTH_LENGTH);
            rkey = memory.get(Layouts.U32, at + Opcode.BTH_LENGTH + 8);
            swapAdd = memory.get(Layouts.U64, at + Opcode.BTH_LENGTH + 12);
            compare = memory.get(Layouts.U64, at + Opcode.BTH_LENGTH + 20);
        }
        if (opcode.hasAcknowledgement()) {
            acknowledgement = memory.get(Layouts.U32, at + opcode.offset(Opcode.Header.AETH));
        }
        if (opcode.hasAtomicAcknowledgement()) {
            original = memory.get(Layouts.U64, at + opcode.offset(Opcode.Header.ATOMIC_ACK));
        }
        if (opcode.hasImmediate()) {
            immediateOrKey = memory.get(Layouts.U32,
                    at + opcode.offset(Opcode.Header.IMMEDIATE));
        } else if (opcode.hasInvalidate()) {
            immediateOrKey = memory.get(Layouts.U32,
                    at + opcode.offset(Opcode.Header.INVALIDATE));
        }
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
            memory.set(Layouts.U32, at + Opcode.BTH_LENGTH, qkey);
            memory.set(Layouts.U32, at + Opcode.BTH_LENGTH + 4, sourceQueuePair);
        }
        if (opcode.hasFlush()) {
            memory.set(Layouts.U32, at + Opcode.BTH_LENGTH, flush);
        }
        if (opcode.hasRdma()) {
            long to = at + opcode.offset(Opcode.Header.RETH);
            memory.set(Layouts.U64, to, address);
            memory.set(Layouts.U64, to + 8,
                    (long) rkey << Integer.SIZE | Integer.toUnsignedLong(dmaLength));
        }
        if (opcode.hasAtomic()) {
            memory.set(Layouts.U64, at + Opcode.BTH_LENGTH, address);
            memory.set(Layouts.U32, at + Opcode.BTH_LENGTH + 8, rkey);
            memory.set(Layouts.U64, at + Opcode.BTH_LENGTH + 12, swapAdd);
            memory.set(Layouts.U64, at + Opcode.BTH_LENGTH + 20, compare);
        }
        if (opcode.hasAcknowledgement()) {
            memory.set(Layouts.U32, at + opcode.offset(Opcode.Header.AETH), acknowledgement);
        }
        if (opcode.hasAtomicAcknowledgement()) {
            memory.set(Layouts.U64, at + opcode.offset(Opcode.Header.ATOMIC_ACK), original);
        }
        if (opcode.hasImmediate()) {
            memory.set(Layouts.U32, at + opcode.offset(Opcode.Header.IMMEDIATE), immediateOrKey);
        } else if (opcode.hasInvalidate()) {
            memory.set(Layouts.U32, at + opcode.offset(Opcode.Header.INVALIDATE), immediateOrKey);
        }
    }
}
