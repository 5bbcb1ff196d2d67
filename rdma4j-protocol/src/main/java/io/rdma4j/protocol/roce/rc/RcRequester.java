// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Turns send requests into packets: cuts them by the path MTU, numbers the packets, keeps the window, and sends
 * lost packets again.
 *
 * <p>Source: IBTA 9.7.2 to 9.7.4, 9.7.6, 9.7.7.
 */
final class RcRequester {
    private static final long UNLIMITED = Long.MAX_VALUE;
    private static final long NOTHING_ASKED = -1;

    private final RcQueuePair queuePair;
    private final RcAttributes attributes;
    private final SendWindow window;
    private final CongestionWindow congestion;
    private final RetryTimer timer;
    private final Memory memory;
    private final RoceHost host;

    /** Messages that consume a receive may be sent up to this number of them. */
    private long receiveLimit = UNLIMITED;
    private long lastAcknowledgeRequest;
    /** Whether the path lost nothing when it was last asked. */
    private boolean isLossless;

    /** The cause for sending one packet again, to learn from the response which packets have arrived. */
    private @Nullable RetransmissionCause askWanted;
    private boolean isAsking;
    /** The end of the oldest packets that were sent again as probes; later packets were sent once. */
    private long askedEnd = NOTHING_ASKED;

    /** The error of a request that fails as soon as all requests before it are acknowledged. */
    private @Nullable WorkCompletionStatus localFailure;
    private long localFailurePsn;

    /** The packet that was given last, and the window before it. */
    private long lastPsn;
    private long maxBeforeLast;

    RcRequester(RcQueuePair queuePair, RcAttributes attributes, SendWindow window,
            CongestionWindow congestion, RetryTimer timer, Memory memory, RoceHost host) {
        this.queuePair = queuePair;
        this.attributes = attributes;
        this.window = window;
        this.congestion = congestion;
        this.timer = timer;
        this.memory = memory;
        this.host = host;
    }

    void reset() {
        receiveLimit = UNLIMITED;
        lastAcknowledgeRequest = window.next;
        localFailure = null;
        forgetAsking();
        congestion.reset();
        timer.reset();
    }

    /** The peer has sent credits: the number of its receive requests after a message. */
    void onReceiveLimit(long receiveNumber) {
        receiveLimit = receiveLimit == UNLIMITED
                ? receiveNumber
                : Math.max(receiveLimit, receiveNumber);
    }

    /** The peer does not count receive requests. */
    void onUnlimitedReceives() {
        receiveLimit = UNLIMITED;
    }

    /** {@return whether the peer has shown a receive request for the oldest unfinished message} */
    boolean isReceiverReady() {
        return window.oldest < window.begun
                && window.queue.request(window.oldest).receiveNumber() <= receiveLimit;
    }

    /** Sends again from the oldest packet that is not acknowledged, which is known to be lost. */
    void goBack(long nowNs) {
        forgetAsking();
        learnPath();
        congestion.onLoss(window.una, window.max);
        window.goBackTo(window.una);
        lastAcknowledgeRequest = window.una;
        timer.onLoss(window.una, nowNs);
        timer.space(congestion.spacingNs(), nowNs);
    }

    private void learnPath() {
        congestion.path(timer.roundTripNs(), timer.longestSpacingNs(), timer.isQueueing());
    }

    /**
     * No answer came. One packet is sent again to learn why, and not the whole window: the peer may only be slow.
     *
     * @param cause after a long silence almost nothing more is sent until a response has come
     */
    void ask(RetransmissionCause cause, long nowNs) {
        if (cause != RetransmissionCause.PROBE || congestion.isNarrow()) {
            learnPath();
            congestion.onTimeout(window.max);
            timer.space(congestion.spacingNs(), nowNs);
        }
        askWanted = cause;
        timer.onAsk(nowNs);
    }

    /**
     * Packets below {@code una} were acknowledged just now. A responder takes packets in order only: if it has taken one
     * that was sent once, behind others that were sent again, the first copies of those had arrived, too.
     */
    void onProgress() {
        if (askedEnd == NOTHING_ASKED || window.una > askedEnd) {
            congestion.onLateAnswer();
        }
        if (window.una < askedEnd) {
            return;
        }
        // The answer may be to either copy of the oldest packet: the newest tells whether the others have arrived.
        askWanted = window.una == askedEnd && newestToAsk() >= window.una
                ? RetransmissionCause.PROBE
                : null;
        askedEnd = NOTHING_ASKED;
    }

    private void forgetAsking() {
        askWanted = null;
        askedEnd = NOTHING_ASKED;
    }

    /** {@return whether a request failed locally and everything before it is acknowledged} */
    boolean isLocalFailureDue() {
        // [IBTA 9.9.2-2]
        if (localFailure != null && window.una > localFailurePsn) {
            // The packet was sent before the failure and has arrived, so it need not be sent again.
            localFailure = null;
        }
        return localFailure != null && window.una == localFailurePsn;
    }

    WorkCompletionStatus localFailure() {
        return localFailure == null ? WorkCompletionStatus.GENERAL_ERROR : localFailure;
    }

    /** {@return whether a request waits to be sent, or a packet to be sent again} */
    boolean mayTransmit() {
        return askWanted != null || window.cursor < window.queue.end();
    }

    boolean pollTransmit(OutgoingPacket out, long nowNs) {
        boolean isLosslessNow = host.isLossless(attributes.path);
        if (isLosslessNow != isLossless) {
            isLossless = isLosslessNow;
            congestion.lossless(isLosslessNow);
            if (isLosslessNow) {
                timer.lossless(host.mostBehindNs());
            } else {
                timer.lossy();
            }
        }
        RetransmissionCause cause = askWanted;
        if (cause != null) {
            askWanted = null;
            if (pollAsk(cause, out, nowNs)) {
                return true;
            }
        }
        while (queuePair.isAlive() && !timer.isWaitingForReceiver() && !timer.isSpacing(nowNs)
                && window.inFlight() < congestion.packets()
                && window.cursor < window.queue.end()) {
            SendRequest request = window.queue.request(window.cursor);
            if (window.cursor == window.begun && !begin(request)) {
                return false;
            }
            if (localFailure != null && window.next == localFailurePsn) {
                return false;
            }
            if (!request.isLocal()) {
                return pollPacket(request, out, nowNs);
            }
            carryOut(request, nowNs);
        }
        return false;
    }

    /**
     * Sends the newest packet again: if nothing else was lost, the peer acknowledges it; otherwise it answers with a NAK.
     * Every other time it sends the oldest instead: a peer whose NAK was lost stays silent until that arrives.
     */
    private boolean pollAsk(RetransmissionCause cause, OutgoingPacket out, long nowNs) {
        if (!queuePair.isAlive() || timer.isWaitingForReceiver() || window.next == window.una) {
            return false;
        }
        long next = window.next;
        long cursor = window.cursor;
        boolean isTurnOfOldest = timer.asks() > 0 && timer.asks() % 2 == 0;
        long asked = isTurnOfOldest ? window.una : Math.max(window.una, newestToAsk());
        window.goBackTo(asked);
        isAsking = true;
        boolean hasPacket = pollPacket(window.queue.request(window.cursor), out, nowNs);
        isAsking = false;
        if (hasPacket) {
            host.retransmits(Psn.wrap(asked), cause);
            askedEnd = asked == window.una ? window.next : askedEnd;
        }
        window.next = next;
        window.cursor = cursor;
        return hasPacket;
    }

    /**
     * {@return the newest packet whose answer may come before all others, one below {@code una} if there is none} Answers
     * that carry data have to come in order, or they would look like a gap.
     */
    private long newestToAsk() {
        long end = window.next;
        for (long i = window.oldest; i < window.begun; i++) {
            SendRequest request = window.queue.request(i);
            if (request.awaitsResponse() && request.endPsn() > window.una) {
                end = Math.min(end, request.firstPsn());
                break;
            }
        }
        return Math.max(window.una, end) - 1;
    }

    private boolean pollPacket(SendRequest request, OutgoingPacket out, long nowNs) {
        return switch (request.opcode()) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE ->
                pollMessage(request, out, nowNs);
            case RDMA_READ -> pollRead(request, out, nowNs);
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, FLUSH, ATOMIC_WRITE ->
                pollOneResponse(request, out, nowNs);
            case LOCAL_INVALIDATE, BIND_MEMORY_WINDOW ->
                failLocally(WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
        };
    }

    /** Binds or invalidates, once, when everything before has been sent at least once. */
    private void carryOut(SendRequest request, long nowNs) {
        if (!request.isCarriedOut()) {
            WorkCompletionStatus status = memory.carryOut(request);
            if (status != WorkCompletionStatus.SUCCESS) {
                failLocally(status);
                return;
            }
            request.carriedOut();
        }
        window.sent(request, 0);
        queuePair.onLocalOperation(nowNs);
    }

    private boolean begin(SendRequest request) {
        // [IBTA 9.5-2]
        boolean isHeldByFence = request.isFenced() && !window.reads.isEmpty();
        if (queuePair.state() == QueuePairState.SQD || localFailure != null || isHeldByFence) {
            return false;
        }
        if (request.isLocal()) {
            window.begin(request, 0);
            return true;
        }
        // [IBTA 9.7.1-2]
        window.begin(request, attributes.packets(request.length()));
        return true;
    }

    private boolean pollMessage(SendRequest request, OutgoingPacket out, long nowNs) {
        boolean isLimited = request.receiveNumber() > receiveLimit && request.consumesReceive();
        if (isLimited && window.una != window.next && !isAsking) {
            // [IBTA 9.7.7-1]
            // Without credit one packet at a time may be sent, to get new credits. IBTA 9.7.7.2.
            return false;
        }
        long psn = window.next;
        long offset = (psn - request.firstPsn()) * attributes.mtu;
        int span = isLimited || psn + 1 == request.endPsn() ? 1 : span(request, offset);
        boolean isFirst = psn == request.firstPsn();
        boolean isLast = psn + span == request.endPsn();
        // [IBTA 9.7.3-2]
        int payload = (int) Math.min((long) span * attributes.mtu, request.length() - offset);
        boolean acknowledge = isLast || isLimited || isAsking
                || window.inFlight() + span >= congestion.packets()
                || psn + span - 1 - lastAcknowledgeRequest >= congestion.packets() / 4;
        Opcode opcode = opcode(request.opcode(), isFirst, isLast);
        // [IBTA 9.2-3]
        begin(out, opcode, psn, acknowledge, isLast && request.isSolicited()).span(span);
        if (opcode.headerLength() > Opcode.BTH_LENGTH) {
            extend(out, opcode, request);
        }
        if (!request.gather(offset, payload, memory, out)) {
            return failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        sent(request, span, acknowledge, nowNs);
        return true;
    }

    private static void extend(OutgoingPacket out, Opcode opcode, SendRequest request) {
        if (opcode.hasRdma()) {
            out.rdma(request.remoteAddress(), request.rkey(), request.length());
        }
        if (opcode.hasImmediate()) {
            out.immediate(request.immediate());
        }
        if (opcode.hasInvalidate()) {
            out.invalidate(request.invalidateRkey());
        }
    }

    /**
     * {@return how many packets of a message, from an offset on, go as one} They lie in one piece of memory, and go all
     * for the first time or all again.
     */
    private int span(SendRequest request, long offset) {
        long left = request.endPsn() - window.next;
        boolean isFirst = window.next == request.firstPsn();
        int most = isAsking ? 1 : attributes.maxSegments(host, isFirst, left,
                congestion.packets() / 4);
        if (most == 1) {
            return 1;
        }
        long inPiece = request.contiguous(offset);
        long packetsInPiece = inPiece == request.length() - offset ? left
                : inPiece / attributes.mtu;
        long room = congestion.packets() - window.inFlight();
        long alike = window.isRetransmission() ? window.max - window.next : room;
        return (int) Math.max(1, Math.min(Math.min(most, packetsInPiece), Math.min(room, alike)));
    }

    private boolean pollRead(SendRequest request, OutgoingPacket out, long nowNs) {
        long psn = window.next;
        long end;
        if (window.isRetransmission()) {
            end = window.reads.endOf(psn);
            if (isAsking && window.reads.isBegun(psn)) {
                // The peer has the request; one packet of its response tells whether the others are lost.
                end = psn + 1;
            }
        } else {
            // [IBTA 9.7.3-1]
            if (window.reads.isFull()) {
                return window.reads.capacity() == 0
                        && failLocally(WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
            }
            long room = congestion.packets() - window.inFlight();
            long chunk = window.reads.capacity() > 1
                    ? Math.max(1, congestion.packets() / 2)
                    : congestion.packets();
            end = Math.min(request.endPsn(), psn + chunk);
            if (end - psn > room) {
                return false;
            }
            window.beginRead(request, end);
        }
        long offset = (psn - request.firstPsn()) * attributes.mtu;
        long length = Math.min(request.length() - offset, (end - psn) * attributes.mtu);
        begin(out, Opcode.RC_READ_REQUEST, psn, true, false);
        out.rdma(request.remoteAddress() + offset, request.rkey(), length);
        sent(request, end - psn, true, nowNs);
        return true;
    }

    /** One packet that a response of one packet answers; it takes a place among the READs. */
    private boolean pollOneResponse(SendRequest request, OutgoingPacket out, long nowNs) {
        boolean isNew = !window.isRetransmission();
        if (isNew && window.reads.isFull()) {
            return window.reads.capacity() == 0
                    && failLocally(WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
        }
        long psn = window.next;
        switch (request.opcode()) {
            case ATOMIC_COMPARE_AND_SWAP -> {
                begin(out, Opcode.RC_COMPARE_SWAP, psn, true, false);
                out.atomic(request.remoteAddress(), request.rkey(), request.swap(),
                        request.compareAdd());
            }
            case ATOMIC_FETCH_AND_ADD -> {
                begin(out, Opcode.RC_FETCH_ADD, psn, true, false);
                out.atomic(request.remoteAddress(), request.rkey(), request.compareAdd(), 0);
            }
            case FLUSH -> {
                begin(out, Opcode.RC_FLUSH, psn, true, false);
                out.flush(request.flushPlacement() | request.flushSelectivity()
                        .code() << OutgoingPacket.FLUSH_SELECTIVITY_SHIFT)
                        .rdma(request.remoteAddress(), request.rkey(), request.flushLength());
            }
            case ATOMIC_WRITE -> {
                begin(out, Opcode.RC_ATOMIC_WRITE, psn, true, false);
                out.rdma(request.remoteAddress(), request.rkey(), request.length());
                if (!request.gather(0, (int) request.length(), memory, out)) {
                    return failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                }
            }
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ, LOCAL_INVALIDATE, BIND_MEMORY_WINDOW ->
                throw new IllegalArgumentException(
                        request.opcode() + " has no response of one packet");
        }
        if (isNew) {
            window.reads.add(psn, psn + 1);
        }
        sent(request, 1, true, nowNs);
        return true;
    }

    private OutgoingPacket begin(OutgoingPacket out, Opcode opcode, long psn, boolean acknowledge,
            boolean solicited) {
        return out.begin(opcode, attributes.path, attributes.destinationQueuePair, psn, acknowledge,
                solicited);
    }

    /** The last packet was not sent, because the memory of its payload no longer exists. */
    void onPayloadGone() {
        window.takeBack(lastPsn, maxBeforeLast);
        failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    private void sent(SendRequest request, long packets, boolean acknowledge, long nowNs) {
        lastPsn = window.next;
        maxBeforeLast = window.max;
        // A request that is answered is one packet; the others are those of the response.
        long leaving = request.awaitsResponse() ? 1 : packets;
        // If there are several packets, the last one requests the acknowledgement.
        long asking = window.next + leaving - 1;
        if (window.isRetransmission()) {
            host.count(Counter.RETRANSMITTED_PKTS, leaving);
            timer.onSentAgain(nowNs);
        } else {
            timer.onSent(asking, acknowledge, nowNs);
        }
        if (!isAsking && congestion.spacingNs() > 0) {
            timer.space(congestion.spacingNs(), nowNs);
        }
        if (acknowledge) {
            lastAcknowledgeRequest = asking;
        }
        window.sent(request, packets);
    }

    private boolean failLocally(WorkCompletionStatus status) {
        localFailure = status;
        localFailurePsn = window.next;
        queuePair.checkLocalFailure();
        return false;
    }

    private static Opcode opcode(SendOpcode opcode, boolean isFirst, boolean isLast) {
        boolean isWrite = opcode == SendOpcode.RDMA_WRITE
                || opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        if (!isLast) {
            if (isWrite) {
                return isFirst ? Opcode.RC_WRITE_FIRST : Opcode.RC_WRITE_MIDDLE;
            }
            return isFirst ? Opcode.RC_SEND_FIRST : Opcode.RC_SEND_MIDDLE;
        }
        return switch (opcode) {
            case RDMA_WRITE -> isFirst ? Opcode.RC_WRITE_ONLY : Opcode.RC_WRITE_LAST;
            case RDMA_WRITE_WITH_IMMEDIATE ->
                isFirst ? Opcode.RC_WRITE_ONLY_IMMEDIATE : Opcode.RC_WRITE_LAST_IMMEDIATE;
            case SEND_WITH_IMMEDIATE ->
                isFirst ? Opcode.RC_SEND_ONLY_IMMEDIATE : Opcode.RC_SEND_LAST_IMMEDIATE;
            case SEND_WITH_INVALIDATE ->
                isFirst ? Opcode.RC_SEND_ONLY_INVALIDATE : Opcode.RC_SEND_LAST_INVALIDATE;
            case SEND, RDMA_READ, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, LOCAL_INVALIDATE,
                    BIND_MEMORY_WINDOW, FLUSH, ATOMIC_WRITE ->
                isFirst ? Opcode.RC_SEND_ONLY : Opcode.RC_SEND_LAST;
        };
    }
}
