// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Piggyback;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Matches responses to requests: releases acknowledged packets, stores READ and atomic results, completes requests in order,
 * and detects missing packets.
 *
 * <p>Source: IBTA 9.7.5.1.3 to 9.7.5.2.8, 9.9.2.
 */
final class RcCompleter {
    private final RcQueuePair queuePair;
    private final RcAttributes attributes;
    private final SendWindow window;
    private final CongestionWindow congestion;
    private final RetryTimer timer;
    private final RcRequester requester;
    private final Memory memory;
    private final RoceHost host;
    private final MemorySegment atomicResult = MemorySegment.ofArray(new long[1]);
    /** The packet for which the peer had no receive, -1 for none, and since when. */
    private long refusedPsn = -1;
    private long refusedSinceNs;
    /** A packet that the peer has refused for good while an earlier response was missing, -1 for none, and how. */
    private long refusalPsn = -1;
    private WorkCompletionStatus refusal = WorkCompletionStatus.RETRY_EXCEEDED_ERROR;

    RcCompleter(RcQueuePair queuePair, RcAttributes attributes, SendWindow window,
            CongestionWindow congestion, RetryTimer timer, RcRequester requester, Memory memory,
            RoceHost host) {
        this.queuePair = queuePair;
        this.attributes = attributes;
        this.window = window;
        this.congestion = congestion;
        this.timer = timer;
        this.requester = requester;
        this.memory = memory;
        this.host = host;
    }

    /** A new connection begins. */
    void reset() {
        refusedPsn = -1;
        refusalPsn = -1;
    }

    void onResponse(PacketView packet, long nowNs) {
        long psn = Psn.unwrap(packet.psn(), window.una);
        switch (packet.opcode().kind()) {
            case ACKNOWLEDGE ->
                onAcknowledge(psn, packet.syndrome(), packet.messageNumber(), nowNs);
            case READ_RESPONSE, ATOMIC_ACKNOWLEDGE -> onData(packet, psn, nowNs);
            case SEND, WRITE, READ_REQUEST, COMPARE_SWAP, FETCH_ADD, FLUSH, ATOMIC_WRITE,
                    CONGESTION_NOTIFICATION ->
                throw new IllegalArgumentException(
                        packet.opcode() + " is no response");
        }
    }

    /** A request of the peer has carried an acknowledgement. */
    void onPiggyback(long piggyback, long nowNs) {
        onAcknowledge(Psn.unwrap(Piggyback.psn(piggyback), window.una),
                Piggyback.syndrome(piggyback), Piggyback.messageNumber(piggyback), nowNs);
    }

    private void onAcknowledge(long psn, int syndrome, int messageNumber, long nowNs) {
        // [IBTA 9.7.5-8]
        if (psn >= window.max || psn < window.una - 1) {
            host.count(Counter.DROPPED_GHOST_ACK);
            return;
        }
        switch (Syndrome.kind(syndrome)) {
            case ACK -> {
                boolean isNothingNew = psn == window.una - 1;
                acknowledgeThrough(psn + 1, nowNs);
                onCredits(syndrome, messageNumber, isNothingNew, nowNs);
            }
            case RNR_NAK -> onReceiverNotReady(syndrome, psn, nowNs);
            case NAK -> onNak(syndrome, psn, nowNs);
            // [IBTA 9.7.5-6]
            case RESERVED -> host.count(Counter.DROPPED_GHOST_ACK);
        }
    }

    /**
     * All packets below {@code end} arrived; requests that await data are not finished by that: if their
     * response is missing it was lost (implied NAK, IBTA 9.7.5.1.2).
     */
    private void acknowledgeThrough(long end, long nowNs) {
        // [IBTA 9.7.5-7]
        if (window.reads.isEmpty()) {
            advance(end, nowNs);
            return;
        }
        long through = end;
        boolean isResponseMissing = false;
        for (long i = window.oldest; i < window.begun; i++) {
            SendRequest request = window.queue.request(i);
            long firstPsn = request.firstPsn();
            if (firstPsn >= end) {
                break;
            }
            if (request.awaitsResponse()) {
                long answered = Math.max(window.una, firstPsn);
                isResponseMissing = end > answered;
                through = Math.min(end, answered);
                break;
            }
        }
        advance(through, nowNs);
        if (isResponseMissing && queuePair.isAlive()) {
            queuePair.onResponseMissing(end, nowNs);
        }
    }

    /** Advances {@code una} and completes the requests below it. */
    private void advance(long to, long nowNs) {
        if (to <= window.una) {
            return;
        }
        long count = to - window.una;
        window.acknowledged(to);
        requester.onProgress();
        congestion.onAcknowledged(count, to);
        timer.onProgress(to, window.isIdle(), nowNs);
        finish();
        queuePair.watchDue(nowNs);
    }

    /** Finishes the oldest requests as far as they are acknowledged, or carried out. */
    void finish() {
        // [IBTA 9.5-1]
        while (window.oldest < window.begun) {
            SendRequest request = window.queue.request(window.oldest);
            if (request.endPsn() > window.una
                    || (request.isLocal() && !request.isCarriedOut())) {
                break;
            }
            window.finishOldest(request);
            host.sendCompleted(request, WorkCompletionStatus.SUCCESS, request.bytesReturned());
        }
        queuePair.onSendProgress();
    }

    /**
     * @param isNothingNew the acknowledgement acknowledges nothing: it is there to announce a receive
     */
    private void onCredits(int syndrome, int messageNumber, boolean isNothingNew, long nowNs) {
        int credits = Syndrome.credits(syndrome);
        if (credits < 0) {
            requester.onUnlimitedReceives();
        } else {
            long message = Psn.unwrap(messageNumber, window.finishedMessages());
            requester.onReceiveLimit(window.receivesThrough(message) + credits);
        }
        if (timer.isWaitingForReceiver()) {
            // A peer with a shared receive queue sends no credits, but still announces a receive.
            boolean isAnnounced = credits > 0 ? requester.isReceiverReady()
                    : credits < 0 && isNothingNew;
            if (isAnnounced) {
                // The peer announces a posted receive: the wait can end.
                timer.endReceiverWait(nowNs);
            }
        }
    }

    private void onReceiverNotReady(int syndrome, long psn, long nowNs) {
        if (psn < window.una) {
            host.count(Counter.DROPPED_GHOST_ACK);
            return;
        }
        host.count(Counter.RCVD_RNR_ERR);
        acknowledgeThrough(psn, nowNs);
        if (!queuePair.isAlive() || window.una != psn || timer.isWaitingForReceiver()) {
            return;
        }
        if (!timer.takeRnrRetry()) {
            host.count(Counter.RETRY_RNR_EXCEEDED_ERR);
            queuePair.failOldest(WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
            return;
        }
        window.goBackTo(psn);
        timer.waitForReceiver(nowNs + Syndrome.rnrNs(syndrome));
        if (psn != refusedPsn) {
            refusedPsn = psn;
            refusedSinceNs = nowNs;
        }
        host.peerHasNoReceive(nowNs - refusedSinceNs);
    }

    private void onNak(int syndrome, long psn, long nowNs) {
        if (psn < window.una) {
            host.count(Counter.DROPPED_GHOST_ACK);
            return;
        }
        acknowledgeThrough(psn, nowNs);
        if (!queuePair.isAlive()) {
            return;
        }
        if (syndrome == Syndrome.NAK_PSN_SEQUENCE_ERROR) {
            if (window.una == psn) {
                host.count(Counter.RCVD_SEQ_ERR);
                queuePair.onLoss(RetransmissionCause.SEQUENCE_NAK, nowNs);
            }
            return;
        }
        WorkCompletionStatus status = statusOf(syndrome);
        if (psn == window.una || psn < window.endOfOldest()) {
            // Also if earlier responses to a READ were lost, or withdrawn: the rest of it was refused, so it cannot succeed.
            queuePair.failOldest(status);
        } else {
            // A response to an earlier request is missing. It is asked for, in case the peer still answers.
            refusalPsn = psn;
            refusal = status;
        }
    }

    // [IBTA 9.9.2-1]
    private static WorkCompletionStatus statusOf(int syndrome) {
        return switch (syndrome) {
            case Syndrome.NAK_INVALID_REQUEST -> WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
            case Syndrome.NAK_REMOTE_ACCESS_ERROR -> WorkCompletionStatus.REMOTE_ACCESS_ERROR;
            case Syndrome.NAK_REMOTE_OPERATIONAL_ERROR ->
                WorkCompletionStatus.REMOTE_OPERATION_ERROR;
            case Syndrome.NAK_INVALID_RD_REQUEST ->
                WorkCompletionStatus.REMOTE_INVALID_RD_REQUEST_ERROR;
            default -> WorkCompletionStatus.BAD_RESPONSE_ERROR;
        };
    }

    /**
     * {@return how the oldest request ends if the peer says nothing more} A peer that has refused a request has failed and
     * answers nothing: the refusal is the cause, and not the silence.
     */
    WorkCompletionStatus statusOfSilence() {
        return refusalPsn >= window.una ? refusal : WorkCompletionStatus.RETRY_EXCEEDED_ERROR;
    }

    private void onData(PacketView packet, long psn, long nowNs) {
        if (psn >= window.max || psn < window.una) {
            host.count(Counter.DROPPED_GHOST_ACK);
            return;
        }
        for (long i = window.oldest; i < window.begun; i++) {
            SendRequest request = window.queue.request(i);
            long expected = Math.max(window.una, request.firstPsn());
            if (psn >= request.endPsn()) {
                if (request.awaitsResponse()) {
                    acknowledgeThrough(psn, nowNs);
                    return;
                }
                continue;
            }
            if (!request.awaitsResponse()) {
                // A response to a request that needs none acknowledges at least the requests before it.
                acknowledgeThrough(request.firstPsn(), nowNs);
                failUnlessOver(WorkCompletionStatus.BAD_RESPONSE_ERROR);
                return;
            }
            if (psn > expected) {
                acknowledgeThrough(psn, nowNs);
                return;
            }
            advance(expected, nowNs);
            if (queuePair.isAlive()) {
                place(packet, psn, request, request.firstPsn(), nowNs);
            }
            return;
        }
    }

    private void place(PacketView packet, long psn, SendRequest request, long firstPsn,
            long nowNs) {
        switch (request.opcode()) {
            case RDMA_READ ->
                placeRead(packet, psn, request, (psn - firstPsn) * attributes.mtu, nowNs);
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD ->
                placeAtomic(packet, psn, request, nowNs);
            case FLUSH, ATOMIC_WRITE -> placeNothing(packet, psn, nowNs);
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE, LOCAL_INVALIDATE, BIND_MEMORY_WINDOW ->
                throw new IllegalArgumentException(request.opcode() + " awaits no response");
        }
    }

    private void placeRead(PacketView packet, long psn, SendRequest request, long offset,
            long nowNs) {
        int span = packet.span();
        long wanted = Math.min((long) span * attributes.mtu, request.length() - offset);
        // A peer with another path MTU cuts the same bytes into more packets, some of which would be beyond the request.
        boolean isBeyond = span > 1 && wanted <= (span - 1L) * attributes.mtu;
        if (packet.opcode().kind() != Opcode.Kind.READ_RESPONSE || isBeyond
                || packet.payloadLength() != wanted) {
            failUnlessOver(WorkCompletionStatus.BAD_RESPONSE_ERROR);
            return;
        }
        switch (packet.settle(request.scatter(offset, packet.payloadMemory(),
                packet.payloadStart(), packet.payloadLength(), memory))) {
            case DONE -> onReadPlaced(packet, psn, nowNs);
            case SOURCE_GONE -> onPayloadGone(packet, psn, nowNs);
            case TARGET_REFUSED -> failUnlessOver(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    /** As if the response had not arrived: a peer that has lent its memory is asked again. */
    private void onPayloadGone(PacketView packet, long psn, long nowNs) {
        packet.onPayloadGone();
        if (packet.isLent() && queuePair.isAlive()) {
            queuePair.onResponseMissing(psn + packet.span(), nowNs);
        }
    }

    private void onReadPlaced(PacketView packet, long psn, long nowNs) {
        // Whatever the first request got was sent before what the peer was asked for again: the rest is lost.
        boolean isAnswerToPart = packet.opcode().isEnd()
                && psn + packet.span() < window.reads.endOf(psn);
        advance(psn + packet.span(), nowNs);
        if (isAnswerToPart && queuePair.isAlive()) {
            queuePair.onMissing(nowNs);
        }
    }

    private void placeAtomic(PacketView packet, long psn, SendRequest request, long nowNs) {
        if (!packet.opcode().hasAtomicAcknowledgement()) {
            failUnlessOver(WorkCompletionStatus.BAD_RESPONSE_ERROR);
            return;
        }
        atomicResult.set(ValueLayout.JAVA_LONG, 0, packet.originalValue());
        if (request.scatter(0, atomicResult, 0, Long.BYTES, memory) != CopyOutcome.DONE) {
            failUnlessOver(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        advance(psn + 1, nowNs);
    }

    /** A FLUSH or an atomic write is answered by a READ response without payload. IBTA annex A19. */
    private void placeNothing(PacketView packet, long psn, long nowNs) {
        if (packet.opcode() != Opcode.RC_READ_RESPONSE_ONLY || packet.payloadLength() != 0) {
            failUnlessOver(WorkCompletionStatus.BAD_RESPONSE_ERROR);
            return;
        }
        advance(psn + 1, nowNs);
    }

    private void failUnlessOver(WorkCompletionStatus status) {
        if (queuePair.isAlive()) {
            queuePair.failOldest(status);
        }
    }
}
