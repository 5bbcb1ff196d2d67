package io.rdma4j.protocol.rc;

import io.rdma4j.protocol.queue.Memory;
import io.rdma4j.protocol.queue.MemoryReference;
import io.rdma4j.protocol.queue.QueuePairHost;
import io.rdma4j.protocol.queue.ReceiveDetails;
import io.rdma4j.protocol.queue.ReceiveQueue;
import io.rdma4j.protocol.queue.ReceiveRequest;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.PacketView;
import io.rdma4j.protocol.wire.Psn;
import io.rdma4j.protocol.wire.Syndrome;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.ValueLayout;

/**
 * Carries out the peer's requests, each once and in order, and answers them.
 *
 * <p>Source: IBTA 9.7.4 (order of the checks), 9.7.5.1, 9.9.3 (what an error does).
 */
final class RcResponder {
    /** The longest message. Source: IBTA 9.7.1 and 9.4.3. */
    static final long MAX_MESSAGE = 1L << 31;

    private static final int FLUSH_PLACEMENTS = FlushPlacement.GLOBAL.bit()
            | FlushPlacement.PERSISTENT.bit();
    private static final int FLUSH_SELECTIVITY_SHIFT = 4;

    private enum Message {
        NONE, SEND, WRITE
    }

    private final RcQueuePair queuePair;
    private final RcAttributes attributes;
    private final ReceiveQueue receiveQueue;
    private final Memory memory;
    private final QueuePairHost host;
    private final ResponseQueue responses = new ResponseQueue();
    private final MemoryReference target = new MemoryReference();
    private final ReceiveDetails details = new ReceiveDetails();

    private long expected;
    private long messages;
    private Message message = Message.NONE;
    private @Nullable ReceiveRequest receive;
    private long received;
    private long writeAddress;
    private long writeLeft;
    private long writeLength;
    private int writeRkey;

    private boolean isAcknowledgePending;
    private boolean isDeferralCounted;
    /** The syndrome of a negative answer that is still to be sent, 0 for none. */
    private int pendingNak;
    private long nakPsn;
    /** The peer was told that {@link #expected} is missing, or that no receive is posted. */
    private boolean isNakSent;
    private boolean isReceiverNotReady;
    private long highestAhead;

    RcResponder(RcQueuePair queuePair, RcAttributes attributes, ReceiveQueue receiveQueue,
            Memory memory, QueuePairHost host) {
        this.queuePair = queuePair;
        this.attributes = attributes;
        this.receiveQueue = receiveQueue;
        this.memory = memory;
        this.host = host;
    }

    void reset() {
        expected = attributes.receivePsn;
        messages = 0;
        message = Message.NONE;
        receive = null;
        isAcknowledgePending = false;
        pendingNak = 0;
        isNakSent = false;
        isReceiverNotReady = false;
        highestAhead = 0;
        responses.reset(attributes.maxDestinationReadAtomic);
    }

    /** How many READs and atomics the peer may have under way was changed. */
    void resize() {
        responses.grow(attributes.maxDestinationReadAtomic);
    }

    /** The queue pair failed: a negative answer is still sent, behind the answers before it. */
    void stop() {
        if (pendingNak == 0) {
            responses.clear();
        }
        isAcknowledgePending = false;
        message = Message.NONE;
        receive = null;
    }

    /** {@return the receive request of a message that is not complete, or null} */
    @Nullable
    ReceiveRequest unfinishedReceive() {
        return receive;
    }

    /** {@return the PSN that comes next} */
    long expected() {
        return expected;
    }

    /** {@return whether the peer was told that no receive request is posted} */
    boolean isReceiverNotReady() {
        return isReceiverNotReady;
    }

    void onReceivePosted() {
        if (isReceiverNotReady && receiveQueue.available() > 0) {
            // The peer waits for its timer; an unsolicited acknowledgement with credit tells it
            // earlier. IBTA 9.7.7.2.4.
            isReceiverNotReady = false;
            isAcknowledgePending = true;
        }
    }

    void onRequest(PacketView packet) {
        long psn = Psn.unwrap(packet.psn(), expected);
        if (psn > expected) {
            onAhead(psn);
        } else if (psn < expected) {
            onDuplicate(packet, psn);
        } else {
            onExpected(packet);
        }
    }

    /** A packet is missing. The peer is told once, and again when a later round shows it lost anew. */
    private void onAhead(long psn) {
        boolean isLostAgain = psn <= highestAhead && !isReceiverNotReady;
        if (!isNakSent || isLostAgain) {
            host.count(Counter.OUT_OF_SEQ_REQUEST);
            isNakSent = true;
            nak(Syndrome.NAK_PSN_SEQUENCE_ERROR, expected);
        }
        highestAhead = psn;
    }

    private void onExpected(PacketView packet) {
        isNakSent = false;
        isReceiverNotReady = false;
        if (pendingNak == Syndrome.NAK_PSN_SEQUENCE_ERROR) {
            // What was missing has come before the peer was told.
            pendingNak = 0;
        }
        Opcode opcode = packet.opcode();
        if (!isInSequence(opcode) || !hasRightLength(packet)) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        switch (opcode.kind()) {
            case SEND -> onSend(packet);
            case WRITE -> onWrite(packet);
            case READ_REQUEST -> onRead(packet);
            case COMPARE_SWAP, FETCH_ADD -> onAtomic(packet);
            case FLUSH -> onFlush(packet);
            case ATOMIC_WRITE -> onAtomicWrite(packet);
            case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                throw new IllegalArgumentException(opcode + " is no request");
        }
    }

    private boolean isInSequence(Opcode opcode) {
        if (opcode.isStart()) {
            return message == Message.NONE;
        }
        return opcode.kind() == Opcode.Kind.SEND
                ? message == Message.SEND
                : message == Message.WRITE;
    }

    private boolean hasRightLength(PacketView packet) {
        int length = packet.payloadLength();
        return switch (packet.opcode().position()) {
            case FIRST, MIDDLE -> length == attributes.mtu;
            case LAST -> length >= 1 && length <= attributes.mtu;
            case ONLY -> length <= attributes.mtu;
        };
    }

    // ---------------------------------------------------------------- SEND and WRITE

    private void onSend(PacketView packet) {
        Opcode opcode = packet.opcode();
        if (opcode.isStart() && !takeReceive()) {
            return;
        }
        ReceiveRequest into = receive;
        if (into == null) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        int length = packet.payloadLength();
        if (received + length > into.capacity()) {
            failReceive(into, WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                    Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        if (!into.scatter(received, packet.memory(), packet.payloadStart(), length, memory)) {
            failReceive(into, WorkCompletionStatus.LOCAL_PROTECTION_ERROR,
                    Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
            return;
        }
        if (opcode.hasInvalidate() && !host.invalidate(packet.invalidateRkey())) {
            failReceive(into, WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        received += length;
        message = Message.SEND;
        executed(packet, 1);
        if (opcode.isEnd()) {
            finishReceive(packet, into, WorkCompletionOpcode.RECEIVE, received);
        }
    }

    private void onWrite(PacketView packet) {
        Opcode opcode = packet.opcode();
        if (opcode.isStart() && !beginWrite(packet)) {
            return;
        }
        int length = packet.payloadLength();
        if (opcode.isEnd() ? length != writeLeft : length >= writeLeft) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        if (opcode.hasImmediate() && !takeReceive()) {
            return;
        }
        if (length > 0) {
            if (!memory.remote(writeRkey, writeAddress, length, AccessFlag.REMOTE_WRITE, target)
                    || !target.write(packet.memory(), packet.payloadStart(), length)) {
                refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
                return;
            }
            writeAddress += length;
            writeLeft -= length;
        }
        message = Message.WRITE;
        executed(packet, 1);
        if (opcode.isEnd()) {
            ReceiveRequest consumed = receive;
            if (opcode.hasImmediate() && consumed != null) {
                finishReceive(packet, consumed, WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE,
                        writeLength);
            } else {
                message = Message.NONE;
                messages++;
            }
        }
    }

    private boolean beginWrite(PacketView packet) {
        long length = packet.dmaLength();
        if (length > MAX_MESSAGE) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return false;
        }
        if (!isAllowed(AccessFlag.REMOTE_WRITE, packet.rkey(), packet.remoteAddress(), length)) {
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return false;
        }
        writeAddress = packet.remoteAddress();
        writeRkey = packet.rkey();
        writeLeft = length;
        writeLength = length;
        return true;
    }

    /** {@return whether queue pair and memory allow it} Without bytes no key is looked at. IBTA 9.7.4.1.5. */
    private boolean isAllowed(AccessFlag needed, int rkey, long address, long length) {
        return attributes.allows(needed)
                && (length == 0 || memory.remote(rkey, address, length, needed, target));
    }

    /** {@return whether there is a receive request for the message; if not the peer is told} */
    private boolean takeReceive() {
        ReceiveRequest taken = receiveQueue.take();
        if (taken == null) {
            host.count(Counter.SEND_RNR_ERR);
            isNakSent = true;
            isReceiverNotReady = true;
            nak(Syndrome.rnr(attributes.minRnrTimer), expected);
            return false;
        }
        receive = taken;
        received = 0;
        return true;
    }

    private void finishReceive(PacketView packet, ReceiveRequest finished,
            WorkCompletionOpcode opcode, long length) {
        message = Message.NONE;
        messages++;
        receive = null;
        details.clear().solicited(packet.isSolicited());
        if (packet.opcode().hasImmediate()) {
            details.immediate(packet.immediate());
        } else if (packet.opcode().hasInvalidate()) {
            details.invalidated(packet.invalidateRkey());
        }
        host.receiveCompleted(finished, WorkCompletionStatus.SUCCESS, opcode, length, details);
    }

    /** The receive request is at fault: its completion says so, and the peer is refused. */
    private void failReceive(ReceiveRequest failed, WorkCompletionStatus status, int syndrome) {
        receive = null;
        host.receiveCompleted(failed, status, WorkCompletionOpcode.RECEIVE, 0, details.clear());
        refuse(syndrome, expected, null);
    }

    /** A request packet was carried out; it takes that many PSNs. */
    private void executed(PacketView packet, long psns) {
        expected += psns;
        if (packet.isAcknowledgeRequested()) {
            isAcknowledgePending = true;
        }
    }

    // ---------------------------------------------------------------- READ and atomics

    private void onRead(PacketView packet) {
        long length = packet.dmaLength();
        if (length > MAX_MESSAGE || !hasRoomForOriginal()) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        if (!isAllowed(AccessFlag.REMOTE_READ, packet.rkey(), packet.remoteAddress(), length)) {
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        if (responses.isFull()) {
            // Repeated requests fill the queue: this one is repeated too, when it times out.
            return;
        }
        messages++;
        long packets = attributes.packets(length);
        fillRead(responses.add(false), packet, expected, packets);
        executed(packet, packets);
        // The response acknowledges everything before it. IBTA 9.7.5.1.2.
        isAcknowledgePending = false;
    }

    private boolean hasRoomForOriginal() {
        return responses.originals() < attributes.maxDestinationReadAtomic;
    }

    private void fillRead(ResponseQueue.Response response, PacketView packet, long psn,
            long packets) {
        response.kind = ResponseQueue.Kind.READ;
        response.firstPsn = psn;
        response.nextPsn = psn;
        response.endPsn = psn + packets;
        response.messageNumber = messages;
        response.address = packet.remoteAddress();
        response.rkey = packet.rkey();
        response.length = packet.dmaLength();
    }

    private void onAtomic(PacketView packet) {
        if (!isAtomicAllowed(AccessFlag.REMOTE_ATOMIC, packet.atomicRkey(),
                packet.atomicAddress())) {
            return;
        }
        long original;
        try {
            original = packet.opcode().kind() == Opcode.Kind.COMPARE_SWAP
                    ? target.compareAndSwap(packet.compare(), packet.swapAdd())
                    : target.fetchAndAdd(packet.swapAdd());
        } catch (IllegalStateException | InternalError memoryGone) {
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        messages++;
        responses.keepAtomic(expected, original);
        fillOne(responses.add(false), ResponseQueue.Kind.ATOMIC, expected, original);
        answered(packet);
    }

    /** {@return whether an access of 8 aligned bytes can be carried out now; if not it is answered} */
    private boolean isAtomicAllowed(AccessFlag needed, int rkey, long address) {
        if (!hasRoomForOriginal() || (address & 7) != 0) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return false;
        }
        if (!isAllowed(needed, rkey, address, Long.BYTES)) {
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return false;
        }
        if (!target.isAligned()) {
            // The region's first byte has an address of the owner's choice, and lies elsewhere.
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return false;
        }
        // Repeated requests may fill the queue: then this one is repeated too, when it times out.
        return !responses.isFull();
    }

    /** A request of one packet was carried out, and its response queued. */
    private void answered(PacketView packet) {
        executed(packet, 1);
        // The response acknowledges everything before it. IBTA 9.7.5.1.2.
        isAcknowledgePending = false;
    }

    private void onAtomicWrite(PacketView packet) {
        if (packet.dmaLength() != Long.BYTES || packet.payloadLength() != Long.BYTES) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        if (!isAtomicAllowed(AccessFlag.REMOTE_WRITE, packet.rkey(), packet.remoteAddress())) {
            return;
        }
        if (!target.writeAtomically(packet.memory().get(ValueLayout.JAVA_LONG_UNALIGNED,
                packet.payloadStart()))) {
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        messages++;
        fillOne(responses.add(false), ResponseQueue.Kind.DONE, expected, 0);
        answered(packet);
    }

    private void onFlush(PacketView packet) {
        int placement = packet.flush() & FLUSH_PLACEMENTS;
        int selectivity = packet.flush() >>> FLUSH_SELECTIVITY_SHIFT & 3;
        if (!hasRoomForOriginal() || placement == 0
                || selectivity > FlushSelectivity.MEMORY_REGION.code()) {
            refuse(Syndrome.NAK_INVALID_REQUEST);
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
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        if (responses.isFull()) {
            return;
        }
        if (length > 0 && !target.flush(length, isPersistent)) {
            refuse(Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
            return;
        }
        messages++;
        fillOne(responses.add(false), ResponseQueue.Kind.DONE, expected, 0);
        answered(packet);
    }

    /** {@return the bytes that may be flushed, -1 if that is not allowed} */
    private long flushable(PacketView packet, AccessFlag needed, boolean isWhole) {
        if (isWhole) {
            return attributes.allows(needed)
                    ? memory.remoteWhole(packet.rkey(), needed, target)
                    : -1;
        }
        return isAllowed(needed, packet.rkey(), packet.remoteAddress(), packet.dmaLength())
                ? packet.dmaLength()
                : -1;
    }

    private void fillOne(ResponseQueue.Response response, ResponseQueue.Kind kind, long psn,
            long original) {
        response.kind = kind;
        response.firstPsn = psn;
        response.nextPsn = psn;
        response.endPsn = psn + 1;
        response.messageNumber = messages;
        response.value = original;
    }

    // ---------------------------------------------------------------- repeated requests

    private void onDuplicate(PacketView packet, long psn) {
        host.count(Counter.DUPLICATE_REQUEST);
        switch (packet.opcode().kind()) {
            case READ_REQUEST -> repeatRead(packet, psn);
            case COMPARE_SWAP, FETCH_ADD -> repeatAtomic(psn);
            case FLUSH, ATOMIC_WRITE -> repeatDone(psn);
            case SEND, WRITE -> isAcknowledgePending = true;
            case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                throw new IllegalArgumentException(packet.opcode() + " is no request");
        }
    }

    private void repeatRead(PacketView packet, long psn) {
        long length = packet.dmaLength();
        long packets = attributes.packets(length);
        if (psn + packets > expected || responses.isFull() || responses.isPending(psn)) {
            return;
        }
        if (!isAllowed(AccessFlag.REMOTE_READ, packet.rkey(), packet.remoteAddress(), length)) {
            refuseRepeated(psn);
            return;
        }
        fillRead(responses.add(true), packet, psn, packets);
    }

    /**
     * The peer asks again for what it was allowed to read, and no longer is. Perhaps it has long had the
     * answer and this is an old copy of its request, so only the peer can tell whether it matters: it is
     * refused, but the connection stays.
     */
    private void refuseRepeated(long psn) {
        if (pendingNak == 0) {
            nak(Syndrome.NAK_REMOTE_ACCESS_ERROR, psn);
        }
    }

    private void repeatAtomic(long psn) {
        int kept = responses.findAtomic(psn);
        if (kept >= 0 && !responses.isFull() && !responses.isPending(psn)) {
            fillOne(responses.add(true), ResponseQueue.Kind.ATOMIC, psn,
                    responses.atomicValue(kept));
        }
    }

    /** What was done once is not done again, only answered again. */
    private void repeatDone(long psn) {
        if (!responses.isFull() && !responses.isPending(psn)) {
            fillOne(responses.add(true), ResponseQueue.Kind.DONE, psn, 0);
        }
    }

    // ---------------------------------------------------------------- answers

    private void nak(int syndrome, long psn) {
        pendingNak = syndrome;
        nakPsn = psn;
    }

    /** Refuses the packet that is expected, which no completion of this side reports. */
    private void refuse(int syndrome) {
        refuse(syndrome, expected, syndrome == Syndrome.NAK_REMOTE_ACCESS_ERROR
                ? AsyncEventType.QP_ACCESS_ERROR
                : AsyncEventType.QP_REQUEST_ERROR);
    }

    /** Answers negatively and fails the queue pair; the answer is still sent. IBTA 9.9.3, class C. */
    private void refuse(int syndrome, long psn, @Nullable AsyncEventType event) {
        nak(syndrome, psn);
        queuePair.failAsResponder(event);
    }

    boolean pollTransmit(OutgoingPacket out) {
        if (!responses.isEmpty()) {
            if (isAcknowledgePending && !isDeferralCounted) {
                host.count(Counter.ACK_DEFERRED);
            }
            isDeferralCounted = isAcknowledgePending;
            return pollResponse(out);
        }
        if (pendingNak != 0) {
            begin(out, Opcode.RC_ACKNOWLEDGE, nakPsn).acknowledgement(pendingNak, messages);
            pendingNak = 0;
            return true;
        }
        if (isAcknowledgePending) {
            isAcknowledgePending = false;
            isDeferralCounted = false;
            begin(out, Opcode.RC_ACKNOWLEDGE, expected - 1).acknowledgement(syndrome(), messages);
            return true;
        }
        return false;
    }

    private boolean pollResponse(OutgoingPacket out) {
        ResponseQueue.Response response = responses.head();
        return switch (response.kind) {
            case READ -> pollRead(response, out);
            case ATOMIC -> {
                responses.removeHead();
                begin(out, Opcode.RC_ATOMIC_ACKNOWLEDGE, response.firstPsn)
                        .acknowledgement(syndrome(), response.messageNumber)
                        .atomicAcknowledgement(response.value);
                yield true;
            }
            case DONE -> {
                responses.removeHead();
                begin(out, Opcode.RC_READ_RESPONSE_ONLY, response.firstPsn)
                        .acknowledgement(syndrome(), response.messageNumber);
                yield true;
            }
        };
    }

    private boolean pollRead(ResponseQueue.Response response, OutgoingPacket out) {
        long psn = response.nextPsn;
        long offset = (psn - response.firstPsn) * attributes.mtu;
        int length = (int) Math.min(attributes.mtu, response.length - offset);
        if (length > 0 && !memory.remote(response.rkey, response.address + offset, length,
                AccessFlag.REMOTE_READ, target)) {
            if (response.isReplay) {
                responses.removeHead();
                refuseRepeated(psn);
            } else {
                responses.clear();
                refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR, psn, AsyncEventType.QP_ACCESS_ERROR);
            }
            return pollTransmit(out);
        }
        boolean isFirst = psn == response.firstPsn;
        boolean isLast = psn + 1 == response.endPsn;
        Opcode opcode;
        if (isFirst) {
            opcode = isLast ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST;
        } else {
            opcode = isLast ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
        }
        begin(out, opcode, psn);
        if (opcode.hasAcknowledgement()) {
            out.acknowledgement(syndrome(), response.messageNumber);
        }
        if (length > 0) {
            out.addPayload(target.segment(), target.offset(), length);
        }
        response.nextPsn++;
        if (isLast) {
            responses.removeHead();
        }
        return true;
    }

    private OutgoingPacket begin(OutgoingPacket out, Opcode opcode, long psn) {
        return out.begin(opcode, attributes.path, attributes.destinationQueuePair, psn, false,
                false);
    }

    /** {@return a positive syndrome with the receive requests that are left} IBTA 9.7.7.2.5. */
    private int syndrome() {
        if (receiveQueue.isShared()) {
            return Syndrome.ackUnlimited();
        }
        return Syndrome.ack(receiveQueue.available() + (receive == null ? 0 : 1));
    }
}
