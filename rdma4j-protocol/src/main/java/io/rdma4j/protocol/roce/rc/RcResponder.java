// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Executes the peer's requests, each once and in order: checks the PSN and executes SEND and WRITE itself. It leaves READ
 * and requests with similar responses to {@link RcReadResponder}, and sending to {@link RcResponseSender}.
 *
 * <p>Source: IBTA 9.7.4 (order of the checks), 9.7.5.1.
 */
final class RcResponder {
    /** The longest message. Source: IBTA 9.7.1 and 9.4.3. */
    static final long MAX_MESSAGE = 1L << 31;

    private static final long NOWHERE = -1;

    private enum Message {
        NONE, SEND, WRITE
    }

    private final RcAttributes attributes;
    private final ReceiveQueue receiveQueue;
    private final Memory memory;
    private final RoceHost host;
    private final RequestProgress progress = new RequestProgress();
    private final RemoteAccess access;
    private final RcResponseSender answers;
    private final RcReadResponder reads;
    private final ReceiveDetails details = new ReceiveDetails();
    private final PacketsAhead ahead = new PacketsAhead();

    private Message message = Message.NONE;
    private long received;
    private long writeAddress;
    private long writeLeft;
    private long writeLength;
    private int writeRkey;

    /** A NAK was sent for a missing packet or a missing receive. */
    private boolean isNakSent;
    private boolean isReceiverNotReady;
    /** The PSN of the last message that found no receive. */
    private long notReadyAt = NOWHERE;

    RcResponder(RcResponseSender.Failure failure, RcAttributes attributes,
            ReceiveQueue receiveQueue,
            Memory memory, RoceHost host) {
        this.attributes = attributes;
        this.receiveQueue = receiveQueue;
        this.memory = memory;
        this.host = host;
        access = new RemoteAccess(attributes, memory);
        answers = new RcResponseSender(failure, attributes, progress, receiveQueue, access, host);
        reads = new RcReadResponder(attributes, progress, access, answers, host);
    }

    void reset() {
        progress.reset(attributes.receivePsn);
        answers.reset();
        reads.stop();
        message = Message.NONE;
        isNakSent = false;
        isReceiverNotReady = false;
        notReadyAt = NOWHERE;
    }

    /** The number of READs and atomics that the peer may have outstanding was changed. */
    void resize() {
        answers.resize();
    }

    /** The queue pair has failed: a NAK is still sent, after the responses before it. */
    void stop() {
        answers.stop();
        reads.stop();
        message = Message.NONE;
        progress.receive = null;
    }

    /** {@return the receive request of a message that is not complete, or null} */
    @Nullable
    ReceiveRequest unfinishedReceive() {
        return progress.receive;
    }

    /** {@return the next expected PSN} */
    long expected() {
        return progress.expected;
    }

    /** {@return whether an RNR NAK was sent} */
    boolean isReceiverNotReady() {
        return isReceiverNotReady;
    }

    void onReceivePosted() {
        if (isReceiverNotReady && receiveQueue.available() > 0) {
            // The peer waits for its timer; an unsolicited acknowledgement with credit tells it
            // earlier. IBTA 9.7.7.2.4.
            isReceiverNotReady = false;
            // From now on the message can be received: if it is lost, a NAK is due again.
            isNakSent = false;
            answers.acknowledge();
        }
    }

    /** A packet was handled: no memory of the application is kept alive until the next. */
    void release() {
        access.target.clear();
    }

    /** {@return whether the next response is one packet} */
    boolean isNextShort() {
        return answers.isNextShort();
    }

    boolean pollTransmit(OutgoingPacket out) {
        return answers.pollTransmit(out);
    }

    /** {@return what sends its responses} */
    RcResponseSender answers() {
        return answers;
    }

    /** The last READ response was not sent, because its memory no longer exists. */
    void onPayloadGone() {
        answers.onPayloadGone();
    }

    void onRequest(PacketView packet) {
        // [IBTA 9.7.4-1]
        long psn = Psn.unwrap(packet.psn(), progress.expected);
        if (psn >= progress.expected && reads.isFlushing()) {
            reads.holdBack(psn);
        } else if (psn > progress.expected) {
            onAhead(psn);
        } else if (psn < progress.expected) {
            onRepeated(packet, psn);
        } else {
            onExpected(packet);
        }
    }

    /** A FLUSH has completed or failed; packets after it are requested again. */
    void onFlushed(long ticket, FlushOutcome outcome) {
        if (reads.onFlushed(ticket, outcome)) {
            isNakSent = true;
            ahead.clear();
            answers.nak(Syndrome.NAK_PSN_SEQUENCE_ERROR, progress.expected);
        }
    }

    /**
     * A packet is missing. One NAK is sent (IBTA 9.7.5.1.1), in whatever order the later packets arrive. Another is sent when
     * one of them arrives a second time: the peer has retransmitted and the packet was lost again, or the NAK was lost.
     */
    private void onAhead(long psn) {
        long distance = psn - progress.expected;
        if (!isNakSent) {
            reportMissing(distance);
        } else if (!ahead.add(distance) && !isReceiverNotReady) {
            reportMissing(distance);
        }
    }

    private void reportMissing(long distance) {
        // [IBTA 9.7.5-3]
        host.count(Counter.OUT_OF_SEQ_REQUEST);
        isNakSent = true;
        ahead.clear();
        ahead.add(distance);
        answers.nak(Syndrome.NAK_PSN_SEQUENCE_ERROR, progress.expected);
    }

    private void onRepeated(PacketView packet, long psn) {
        // [IBTA 9.7.5-4]
        host.count(Counter.DUPLICATE_REQUEST);
        switch (packet.opcode().kind()) {
            case SEND, WRITE -> answers.acknowledge();
            case READ_REQUEST -> reads.onRepeatedRead(packet, psn);
            case COMPARE_SWAP, FETCH_ADD -> answers.repeatAtomic(psn);
            case FLUSH, ATOMIC_WRITE -> answers.repeatDone(psn);
            case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                throw new IllegalArgumentException(packet.opcode() + " is no request");
        }
    }

    private void onExpected(PacketView packet) {
        isNakSent = false;
        isReceiverNotReady = false;
        answers.withdrawSequenceError();
        Opcode opcode = packet.opcode();
        if (!isInSequence(opcode) || !hasRightLength(packet)) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        switch (opcode.kind()) {
            case SEND -> onSend(packet);
            case WRITE -> onWrite(packet);
            case READ_REQUEST -> reads.onRead(packet);
            case COMPARE_SWAP, FETCH_ADD -> reads.onAtomic(packet);
            case FLUSH -> reads.onFlush(packet);
            case ATOMIC_WRITE -> reads.onAtomicWrite(packet);
            case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                throw new IllegalArgumentException(opcode + " is no request");
        }
    }

    private boolean isInSequence(Opcode opcode) {
        // [IBTA 9.7.4-2]
        if (opcode.isStart()) {
            return message == Message.NONE;
        }
        return opcode.kind() == Opcode.Kind.SEND
                ? message == Message.SEND
                : message == Message.WRITE;
    }

    private boolean hasRightLength(PacketView packet) {
        // [IBTA 9.7.4-3]
        int length = packet.payloadLength();
        int full = packet.span() * attributes.mtu;
        return switch (packet.opcode().position()) {
            case FIRST, MIDDLE -> length == full;
            case LAST -> length > full - attributes.mtu && length <= full;
            case ONLY -> (length > full - attributes.mtu || length == 0) && length <= full;
        };
    }

    // ---------------------------------------------------------------- SEND and WRITE

    private void onSend(PacketView packet) {
        Opcode opcode = packet.opcode();
        if (opcode.isStart() && !takeReceive()) {
            return;
        }
        ReceiveRequest into = progress.receive;
        if (into == null) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        int length = packet.payloadLength();
        if (received + length > into.capacity()) {
            failReceive(into, WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                    Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        switch (packet.settle(into.scatter(received, packet.payloadMemory(),
                packet.payloadStart(), length, memory))) {
            case DONE -> {
                // Continues below.
            }
            case SOURCE_GONE -> {
                onPayloadGone(packet);
                return;
            }
            case TARGET_REFUSED -> {
                failReceive(into, WorkCompletionStatus.LOCAL_PROTECTION_ERROR,
                        Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
                return;
            }
        }
        // [IBTA 9.4.1-2]
        if (opcode.hasInvalidate() && !memory.invalidate(packet.invalidateRkey())) {
            failReceive(into, WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return;
        }
        received += length;
        message = Message.SEND;
        executed(packet);
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
        // [IBTA 9.4.3-2]
        if (opcode.isEnd() ? length != writeLeft : length >= writeLeft) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return;
        }
        // [IBTA 9.4.3-1]
        if (opcode.hasImmediate() && !takeReceive()) {
            return;
        }
        switch (length == 0 ? CopyOutcome.DONE : write(packet, length)) {
            case DONE -> {
                writeAddress += length;
                writeLeft -= length;
            }
            case SOURCE_GONE -> {
                onPayloadGone(packet);
                return;
            }
            case TARGET_REFUSED -> {
                answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
                return;
            }
        }
        message = Message.WRITE;
        executed(packet);
        if (opcode.isEnd()) {
            ReceiveRequest consumed = progress.receive;
            if (opcode.hasImmediate() && consumed != null) {
                finishReceive(packet, consumed, WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE,
                        writeLength);
            } else {
                message = Message.NONE;
                progress.messages++;
            }
        }
    }

    private CopyOutcome write(PacketView packet, int length) {
        return access.stillAllows(AccessFlag.REMOTE_WRITE, writeRkey, writeAddress, length)
                ? packet.settle(access.target.write(packet.payloadMemory(),
                        packet.payloadStart(), length))
                : CopyOutcome.TARGET_REFUSED;
    }

    /**
     * The sender's memory is gone, as if the packet had not arrived. A sender of this process learns that at once; another
     * one, which has lent its memory, is asked to send again.
     */
    private void onPayloadGone(PacketView packet) {
        packet.onPayloadGone();
        if (packet.isLent()) {
            host.count(Counter.OUT_OF_SEQ_REQUEST);
            isNakSent = true;
            ahead.clear();
            answers.nak(Syndrome.NAK_PSN_SEQUENCE_ERROR, progress.expected);
        }
    }

    private boolean beginWrite(PacketView packet) {
        long length = packet.dmaLength();
        // [IBTA 9.4.3-3]
        if (length > MAX_MESSAGE) {
            answers.refuse(Syndrome.NAK_INVALID_REQUEST);
            return false;
        }
        if (!access.allows(AccessFlag.REMOTE_WRITE, packet.rkey(), packet.remoteAddress(),
                length)) {
            answers.refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR);
            return false;
        }
        writeAddress = packet.remoteAddress();
        writeRkey = packet.rkey();
        writeLeft = length;
        writeLength = length;
        return true;
    }

    /** {@return whether there is a receive request for the message; if not, sends an RNR NAK} */
    private boolean takeReceive() {
        // [IBTA 9.4.1-1]
        // It is taken already if the packet comes again whose payload was gone before.
        ReceiveRequest taken = progress.receive == null ? receiveQueue.take() : progress.receive;
        if (taken == null) {
            host.count(Counter.SEND_RNR_ERR);
            isNakSent = true;
            isReceiverNotReady = true;
            ahead.clear();
            // [IBTA 9.7.5-5]
            answers.nak(Syndrome.rnr(progress.expected == notReadyAt
                    ? attributes.minRnrTimer
                    : attributes.firstRnrTimer), progress.expected);
            notReadyAt = progress.expected;
            return false;
        }
        progress.receive = taken;
        received = 0;
        return true;
    }

    private void finishReceive(PacketView packet, ReceiveRequest finished,
            WorkCompletionOpcode opcode, long length) {
        message = Message.NONE;
        progress.messages++;
        progress.receive = null;
        details.clear().solicited(packet.isSolicited());
        if (packet.opcode().hasImmediate()) {
            details.immediate(packet.immediate());
        } else if (packet.opcode().hasInvalidate()) {
            details.invalidated(packet.invalidateRkey());
        }
        host.receiveCompleted(finished, WorkCompletionStatus.SUCCESS, opcode, length, details);
    }

    /** The receive request has an error: its completion reports it, and the peer gets a NAK. */
    private void failReceive(ReceiveRequest failed, WorkCompletionStatus status, int syndrome) {
        progress.receive = null;
        host.receiveCompleted(failed, status, WorkCompletionOpcode.RECEIVE, 0, details.clear());
        answers.refuseReported(syndrome);
    }

    /** A packet of a message was carried out. */
    private void executed(PacketView packet) {
        progress.advance(packet.span());
        // [IBTA 9.7.5-1]
        if (packet.isAcknowledgeRequested()) {
            answers.acknowledge();
        }
    }
}
