// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;

import java.lang.invoke.VarHandle;

/**
 * Carries out the requests with a response of their own: READs, atomics, atomic writes and FLUSHes. The peer may have only
 * a limited number of them outstanding; none takes a receive request.
 *
 * <p>A request that finds no room because repeated ones fill the queue is ignored: the peer repeats it after a time-out.
 * Source: IBTA 9.4.4, 9.4.5, 9.7.5.1.
 */
final class RcReadResponder {
    private static final int FLUSH_PLACEMENTS = FlushPlacement.GLOBAL.bit()
            | FlushPlacement.PERSISTENT.bit();

    private final RcAttributes attributes;
    private final RequestProgress progress;
    private final RemoteAccess access;
    private final MemoryReference target;
    private final RcResponseSender answers;
    private final RoceHost host;

    private boolean isFlushing;
    private boolean hasHeldBack;
    private long flushTicket;

    RcReadResponder(RcAttributes attributes, RequestProgress progress, RemoteAccess access,
            RcResponseSender answers, RoceHost host) {
        this.attributes = attributes;
        this.progress = progress;
        this.access = access;
        target = access.target;
        this.answers = answers;
        this.host = host;
    }

    void onRead(PacketView packet) {
        long length = packet.dmaLength();
        // [IBTA 9.7.4-5]
        if (length > RcResponder.MAX_MESSAGE || !answers.hasRoomForOriginal()) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        if (!mayRead(packet)) {
            answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        if (answers.isFull()) {
            return;
        }
        long psn = progress.expected;
        long packets = attributes.packets(length);
        progress.finish(packets);
        answers.addRead(packet, psn, packets);
    }

    private boolean mayRead(PacketView packet) {
        return access.allows(AccessFlag.REMOTE_READ, packet.rkey(), packet.remoteAddress(),
                packet.dmaLength());
    }

    void onAtomic(PacketView packet) {
        if (!isWordReady(AccessFlag.REMOTE_ATOMIC, packet.atomicRkey(), packet.atomicAddress())) {
            return;
        }
        long original;
        try {
            // [IBTA 9.4.5-2]
            original = packet.opcode().kind() == Opcode.Kind.COMPARE_SWAP
                    ? target.compareAndSwap(packet.compare(), packet.swapAdd())
                    : target.fetchAndAdd(packet.swapAdd());
        } catch (IllegalStateException | InternalError memoryGone) {
            answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        answers.addAtomic(finishOne(), original);
    }

    void onAtomicWrite(PacketView packet) {
        if (packet.dmaLength() != Long.BYTES || packet.payloadLength() != Long.BYTES) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        if (!isWordReady(AccessFlag.REMOTE_WRITE, packet.rkey(), packet.remoteAddress())) {
            return;
        }
        switch (target.writeAtomically(packet.payloadMemory(), packet.payloadStart())) {
            case DONE -> answers.addDone(finishOne());
            case SOURCE_GONE -> packet.onPayloadGone();
            case TARGET_REFUSED -> answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
        }
    }

    /** {@return whether an access of 8 aligned bytes can be carried out now; if not it is answered} */
    private boolean isWordReady(AccessFlag needed, int rkey, long address) {
        // [IBTA 9.4.5-1]
        if (!answers.hasRoomForOriginal() || (address & 7) != 0) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return false;
        }
        if (!access.allows(needed, rkey, address, Long.BYTES)) {
            answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return false;
        }
        if (!target.isAligned()) {
            // The region's first byte has an address of the owner's choice, and lies elsewhere.
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return false;
        }
        return !answers.isFull();
    }

    void onFlush(PacketView packet) {
        int placement = packet.flush() & FLUSH_PLACEMENTS;
        int selectivity = packet.flush() >>> OutgoingPacket.FLUSH_SELECTIVITY_SHIFT & 3;
        if (!answers.hasRoomForOriginal() || placement == 0
                || selectivity > FlushSelectivity.MEMORY_REGION.code()) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        boolean isGlobal = (placement & FlushPlacement.GLOBAL.bit()) != 0;
        boolean isPersistent = (placement & FlushPlacement.PERSISTENT.bit()) != 0;
        boolean isWhole = selectivity == FlushSelectivity.MEMORY_REGION.code();
        long length = isGlobal ? flushable(packet, AccessFlag.FLUSH_GLOBAL, isWhole) : 0;
        if (isPersistent && length >= 0) {
            length = flushable(packet, AccessFlag.FLUSH_PERSISTENT, isWhole);
        }
        if (length < 0) {
            answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        if (answers.isFull()) {
            return;
        }
        VarHandle.fullFence();
        if (length > 0 && isPersistent && target.segment().isMapped()) {
            startFlush(length);
            return;
        }
        answers.addDone(finishOne());
    }

    private void startFlush(long length) {
        flushTicket++;
        isFlushing = host.flush(target.segment(), target.offset(), length, flushTicket);
        hasHeldBack = false;
        if (!isFlushing) {
            answers.refuse(Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
        }
    }

    /**
     * {@return whether a FLUSH is being carried out: it is the expected request, and no later one may overtake it} So
     * there is at most one, whatever the peer sends. IBTA annex A19.
     */
    boolean isFlushing() {
        return isFlushing;
    }

    /**
     * A packet after the present FLUSH, or a copy of it, has arrived. There is no room for it, so the peer must send it
     * again.
     */
    void holdBack(long psn) {
        hasHeldBack |= psn > progress.expected;
    }

    /** {@return whether packets have arrived after the completed FLUSH} */
    boolean onFlushed(long ticket, FlushOutcome outcome) {
        if (!isFlushing || ticket != flushTicket) {
            return false;
        }
        isFlushing = false;
        switch (outcome) {
            case DONE -> {
                long psn = finishOne();
                // Repeated requests may have filled the queue meanwhile: then the peer asks again, too.
                if (!answers.isFull()) {
                    answers.addDone(psn);
                }
                return hasHeldBack;
            }
            case MEMORY_GONE -> answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            case FAILED -> answers.refuse(Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
        }
        return false;
    }

    /** A FLUSH under way no longer matters. */
    void stop() {
        isFlushing = false;
    }

    /** {@return the number of bytes that may be flushed, -1 if none may} */
    private long flushable(PacketView packet, AccessFlag needed, boolean isWhole) {
        if (isWhole) {
            return access.allowedWhole(needed, packet.rkey());
        }
        return access.allows(needed, packet.rkey(), packet.remoteAddress(), packet.dmaLength())
                ? packet.dmaLength()
                : -1;
    }

    /** {@return the PSN of a request of one packet that was carried out} */
    private long finishOne() {
        long psn = progress.expected;
        progress.finish(1);
        return psn;
    }

    /** A READ was repeated. It may request a part of the original, but no packets beyond it. */
    void onRepeatedRead(PacketView packet, long psn) {
        long packets = attributes.packets(packet.dmaLength());
        if (psn + packets > progress.expected || !answers.canRepeat(psn)) {
            return;
        }
        if (!mayRead(packet)) {
            answers.refuseRepeated(psn);
            return;
        }
        answers.repeatRead(packet, psn, packets);
    }
}
