// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import org.jspecify.annotations.Nullable;

/**
 * Sends the responses to the peer, in this order: responses to READs and atomics, one NAK, one
 * acknowledgement of everything before it.
 *
 * <p>Source: IBTA 9.7.5.1, 9.9.3 (what an error does).
 */
final class RcResponseSender {
    /** What a refusal does to the queue pair. */
    @FunctionalInterface
    interface Failure {
        /**
         * It fails.
         *
         * @param event what is reported, null if a completion has reported it
         */
        void failAsResponder(@Nullable AsyncEventType event);
    }

    private final Failure failure;
    private final RcAttributes attributes;
    private final RequestProgress progress;
    private final ReceiveQueue receiveQueue;
    private final RemoteAccess access;
    private final RoceHost host;
    private final ResponseQueue responses = new ResponseQueue();

    private boolean isAcknowledgePending;
    private boolean isDeferralCounted;
    /** The syndrome of a NAK to send, 0 for none. */
    private int pendingNak;
    private long nakPsn;
    /** An acknowledgement for everything before this PSN was sent. */
    private long lastAcknowledgedPsn;

    /** The acknowledgement that was taken last. */
    private long takenPsn;
    private int takenSyndrome;
    private long takenMessages;

    /** The READ response packet that was given last; it waits no longer if it was the last of its response. */
    private long lastReadPsn;
    private boolean isLastReadReplay;
    private boolean isLastReadQueued;

    RcResponseSender(Failure failure, RcAttributes attributes, RequestProgress progress,
            ReceiveQueue receiveQueue, RemoteAccess access, RoceHost host) {
        this.failure = failure;
        this.attributes = attributes;
        this.progress = progress;
        this.receiveQueue = receiveQueue;
        this.access = access;
        this.host = host;
    }

    void reset() {
        isAcknowledgePending = false;
        pendingNak = 0;
        lastAcknowledgedPsn = progress.expected;
        responses.reset(attributes.readsServed());
    }

    /** The number of READs and atomics that the peer may have outstanding was changed. */
    void resize() {
        responses.grow(attributes.readsServed());
    }

    /** The queue pair has failed: a NAK is still sent, after the responses before it. */
    void stop() {
        if (pendingNak == 0) {
            responses.clear();
        }
        isAcknowledgePending = false;
    }

    // ---------------------------------------------------------------- acknowledging and refusing

    /** Acknowledges everything that was carried out so far. */
    void acknowledge() {
        isAcknowledgePending = true;
    }

    /** Sends a NAK for a packet that cannot be carried out now; the connection stays. */
    void nak(int syndrome, long psn) {
        pendingNak = syndrome;
        nakPsn = psn;
    }

    /** The missing packet has arrived: cancels a NAK that was not sent yet. */
    void withdrawSequenceError() {
        if (pendingNak == Syndrome.NAK_PSN_SEQUENCE_ERROR) {
            pendingNak = 0;
        }
    }

    /** Refuses the packet that is expected, which no completion of this side reports. */
    void refuse(int syndrome) {
        refuse(syndrome, progress.expected, syndrome == Syndrome.NAK_REMOTE_ACCESS_ERROR
                ? AsyncEventType.QP_ACCESS_ERROR
                : AsyncEventType.QP_REQUEST_ERROR);
    }

    /** Refuses the packet that is expected, which a completion of this side has reported. */
    void refuseReported(int syndrome) {
        refuse(syndrome, progress.expected, null);
    }

    /** Answers negatively and fails the queue pair; the answer is still sent. IBTA 9.9.3, class C. */
    private void refuse(int syndrome, long psn, @Nullable AsyncEventType event) {
        // [IBTA 9.9.3-1]
        nak(syndrome, psn);
        failure.failAsResponder(event);
    }

    /**
     * The peer repeats a READ that was allowed and no longer is. This may be an old copy of an answered request,
     * so only the peer knows whether it matters: it gets a NAK, but the connection stays.
     */
    void refuseRepeated(long psn) {
        if (pendingNak == 0) {
            nak(Syndrome.NAK_REMOTE_ACCESS_ERROR, psn);
        }
    }

    // ---------------------------------------------------------------- responses

    /** {@return whether the peer has fewer READs and atomics outstanding than allowed} */
    boolean hasRoomForOriginal() {
        return responses.originals() < attributes.readsServed();
    }

    /** {@return whether no response can be added} Repeated requests may fill the queue as well. */
    boolean isFull() {
        return responses.isFull();
    }

    /** A READ was allowed. */
    void addRead(PacketView request, long psn, long packets) {
        fillRead(responses.add(false), request, psn, packets);
        acknowledgeByResponse();
    }

    /** An atomic was carried out; its result is kept. */
    void addAtomic(long psn, long original) {
        responses.keepAtomic(psn, original);
        fillOne(responses.add(false), ResponseQueue.Kind.ATOMIC, psn, original);
        acknowledgeByResponse();
    }

    /** A FLUSH or an atomic write was carried out. */
    void addDone(long psn) {
        fillOne(responses.add(false), ResponseQueue.Kind.DONE, psn, 0);
        acknowledgeByResponse();
    }

    /** The response acknowledges everything before it. IBTA 9.7.5.1.2. */
    private void acknowledgeByResponse() {
        // [IBTA 9.7.5-2]
        isAcknowledgePending = false;
        lastAcknowledgedPsn = progress.expected;
    }

    /**
     * {@return whether to answer a repeated request again} A response that still waits to be sent is not lost.
     */
    boolean canRepeat(long psn) {
        return !responses.isFull() && !responses.isPending(psn);
    }

    /** A READ is carried out anew. */
    void repeatRead(PacketView request, long psn, long packets) {
        fillRead(responses.add(true), request, psn, packets);
    }

    /** An atomic is not carried out again: the peer gets the result that is kept, if it is. */
    void repeatAtomic(long psn) {
        // [IBTA 9.4.5-3]
        int kept = responses.findAtomic(psn);
        if (kept >= 0 && canRepeat(psn)) {
            fillOne(responses.add(true), ResponseQueue.Kind.ATOMIC, psn,
                    responses.atomicValue(kept));
        }
    }

    /** A request is not carried out again, only answered again. */
    void repeatDone(long psn) {
        if (canRepeat(psn)) {
            fillOne(responses.add(true), ResponseQueue.Kind.DONE, psn, 0);
        }
    }

    private void fillRead(ResponseQueue.Response response, PacketView request, long psn,
            long packets) {
        response.kind = ResponseQueue.Kind.READ;
        response.firstPsn = psn;
        response.nextPsn = psn;
        response.endPsn = psn + packets;
        response.messageNumber = progress.messages;
        response.address = request.remoteAddress();
        response.rkey = request.rkey();
        response.length = request.dmaLength();
    }

    private void fillOne(ResponseQueue.Response response, ResponseQueue.Kind kind, long psn,
            long original) {
        response.kind = kind;
        response.firstPsn = psn;
        response.nextPsn = psn;
        response.endPsn = psn + 1;
        response.messageNumber = progress.messages;
        response.value = original;
    }

    // ---------------------------------------------------------------- sending

    /** {@return whether the next response is one packet: an acknowledgement, a NAK, or the whole response to a request} */
    boolean isNextShort() {
        if (responses.isEmpty()) {
            return isAcknowledgePending || pendingNak != 0;
        }
        ResponseQueue.Response next = responses.head();
        return next.endPsn - next.firstPsn == 1;
    }

    boolean pollTransmit(OutgoingPacket out) {
        if (!responses.isEmpty()) {
            if (isAcknowledgePending && !isDeferralCounted) {
                host.count(Counter.ACK_DEFERRED);
            }
            isDeferralCounted = isAcknowledgePending;
            return pollResponse(out);
        }
        if (pendingNak != 0 && !mustAcknowledgeFirst()) {
            begin(out, Opcode.RC_ACKNOWLEDGE, nakPsn).acknowledgement(pendingNak,
                    progress.messages);
            pendingNak = 0;
            return true;
        }
        if (isAcknowledgePending || pendingNak != 0) {
            takeAcknowledgement();
            sendTaken(out);
            return true;
        }
        return false;
    }

    /** {@return whether there is anything to send} */
    boolean isAnythingDue() {
        return isAcknowledgePending || pendingNak != 0 || !responses.isEmpty();
    }

    /** {@return whether an acknowledgement is all that is to be sent, so that another packet may carry it} */
    boolean isJustAcknowledgement() {
        return isAcknowledgePending && pendingNak == 0 && responses.isEmpty();
    }

    /** Decides what an acknowledgement says that is sent next, by {@link #sendTaken} or {@link #piggyback}. */
    void takeAcknowledgement() {
        isAcknowledgePending = false;
        isDeferralCounted = false;
        lastAcknowledgedPsn = progress.expected;
        takenPsn = progress.acknowledgeable;
        takenSyndrome = syndrome();
        takenMessages = progress.messages;
    }

    /** Sends the acknowledgement that was taken as a packet. */
    void sendTaken(OutgoingPacket out) {
        begin(out, Opcode.RC_ACKNOWLEDGE, takenPsn).acknowledgement(takenSyndrome, takenMessages);
    }

    /** Lets a request carry the acknowledgement that was taken. */
    void piggyback(OutgoingPacket request) {
        request.piggyback(takenPsn, takenSyndrome, takenMessages);
    }

    /**
     * {@return whether the packets before a gap must be acknowledged before the NAK for the gap is sent}
     *
     * <p>The NAK acknowledges them, too. But Linux rxe, while it retransmits, takes a second NAK for a copy of the
     * first until an acknowledgement has come, and then stands still until its time-out.
     */
    private boolean mustAcknowledgeFirst() {
        return pendingNak == Syndrome.NAK_PSN_SEQUENCE_ERROR && nakPsn == progress.expected
                && nakPsn > lastAcknowledgedPsn;
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
        long left = response.endPsn - psn;
        boolean isFirst = psn == response.firstPsn;
        int span = attributes.maxSegments(host, isFirst, left, Integer.MAX_VALUE);
        long offset = (psn - response.firstPsn) * attributes.mtu;
        int length = (int) Math.min((long) span * attributes.mtu, response.length - offset);
        if (length > 0 && !access.stillAllows(AccessFlag.REMOTE_READ, response.rkey,
                response.address + offset, length)) {
            refuseRead(psn, response.isReplay, true);
            return pollTransmit(out);
        }
        // [IBTA 9.4.4-1]
        boolean isLast = psn + span == response.endPsn;
        Opcode opcode;
        if (isFirst) {
            opcode = isLast ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST;
        } else {
            opcode = isLast ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
        }
        begin(out, opcode, psn).span(span);
        if (opcode.hasAcknowledgement()) {
            out.acknowledgement(syndrome(), response.messageNumber);
        }
        if (length > 0) {
            out.addPayload(access.target, length);
        }
        response.nextPsn += span;
        lastReadPsn = psn;
        isLastReadReplay = response.isReplay;
        isLastReadQueued = !isLast;
        if (isLast) {
            responses.removeHead();
        }
        return true;
    }

    /** The last READ response was not sent, because its memory no longer exists. */
    void onPayloadGone() {
        refuseRead(lastReadPsn, isLastReadReplay, isLastReadQueued);
    }

    /** A READ that was allowed finds its memory no longer. */
    private void refuseRead(long psn, boolean isReplay, boolean isQueued) {
        if (!isReplay) {
            responses.clear();
            refuse(Syndrome.NAK_REMOTE_ACCESS_ERROR, psn, AsyncEventType.QP_ACCESS_ERROR);
            return;
        }
        if (isQueued) {
            responses.removeHead();
        }
        refuseRepeated(psn);
    }

    private OutgoingPacket begin(OutgoingPacket out, Opcode opcode, long psn) {
        return out.begin(opcode, attributes.path, attributes.destinationQueuePair, psn, false,
                false);
    }

    /** {@return a positive syndrome with the receive requests that are left} IBTA 9.7.7.2.5. */
    private int syndrome() {
        // [IBTA 9.7.7-2]
        if (receiveQueue.isShared()) {
            return Syndrome.ackUnlimited();
        }
        return Syndrome.ack(receiveQueue.available() + (progress.receive == null ? 0 : 1));
    }
}
