// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.FpduView;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import io.rdma4j.protocol.iwarp.wire.TerminateMessage;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A queue pair on a byte stream: units come in and go out, and any error in a unit ends the stream.
 *
 * <p>The connection brings it up ({@link #connect}); requests that are posted before wait. After every call but
 * {@link #pollTransmit} the host polls for units until there is none, asks for {@link #deadlineNs}, and, if {@link #isOver}
 * says so, closes the stream when the polled units have left. A queue pair begins in INIT. When its stream has ended it is in
 * ERR; after a RESET it can have another stream. Source: RFC 5040 6.
 */
public final class IwarpQueuePair implements QueuePairProtocol {
    /** The last kind of message sent, so that both kinds take turns. */
    private enum Turn {
        REQUEST, ANSWER
    }

    /**
     * An initiator for whose first message the peer waits repeats it as a WRITE of no bytes, which has no effect on a peer
     * that got the first: siw does not notice bytes that arrive while it still accepts, until more arrive.
     */
    private static final long FIRST_REMINDER_NS = 100_000_000;
    /** The intervals of checks whether a late reply has arrived: each is twice the one before. */
    private static final long FIRST_LATE_REPLY_NS = 10_000_000;
    private static final long LONGEST_LATE_REPLY_NS = 1_000_000_000;
    /** The last is sent three seconds after the connection was established. */
    private static final int REMINDERS = 5;

    private final IwarpHost host;
    private final IwarpRequester requester;
    private final IwarpResponder responder;
    private final FpduView view = new FpduView();
    private final Crc32c crc = new Crc32c();
    private QueuePairState state = QueuePairState.INIT;
    private int outboundReads;
    private int inboundReads;
    private boolean hasCrc;
    private int maxUnit;
    private Turn lastTurn = Turn.ANSWER;
    private boolean hasReceived;
    private boolean isConnected;
    /** Whether this side sends nothing until the peer has sent something or the time is over. */
    private boolean isHolding;
    private long holdNs;
    private long holdUntilNs;
    /** The reply was lost: the time begins when its retransmission has arrived. */
    private boolean isReplyLate;
    private long lateReplyNs;
    private long remindAtNs;
    private int reminders;
    private boolean isClosing;
    private boolean isLastReceiveReported;
    private @Nullable OutgoingFpdu terminate;

    /** A queue pair with these queues. */
    public IwarpQueuePair(SendQueue sendQueue, ReceiveQueue receiveQueue, Memory memory,
            IwarpHost host) {
        this.host = host;
        requester = new IwarpRequester(sendQueue, memory, host);
        responder = new IwarpResponder(receiveQueue, memory, host);
    }

    // ---------------------------------------------------------------- state

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs) {
        if (attributes.isSet(QueuePairAttribute.ACCESS_FLAGS)) {
            responder.allow(AccessFlag.bits(attributes.accessFlags()));
        }
        QueuePairState previous = state;
        state = next;
        switch (next) {
            case RESET -> {
                isConnected = false;
                isClosing = false;
                isLastReceiveReported = false;
                terminate = null;
                requester.reset();
                responder.reset();
            }
            case ERR -> {
                if (previous != QueuePairState.ERR) {
                    flush();
                }
            }
            case SQD -> isClosing = true;
            case INIT, RTR, RTS, SQE -> {
                // The connection alone brings it further.
            }
        }
    }

    @Override
    public void query(QueuePairAttributes into) {
        if (state == QueuePairState.RTS) {
            into.maxReadAtomic(outboundReads).maxDestinationReadAtomic(inboundReads);
        }
    }

    /**
     * The connection is established: from now on the stream carries units.
     *
     * @param longestUnit the maximum length of a unit to send in bytes, a multiple of 4, at least 64
     * @param newHoldNs how long a responder sends nothing after its reply, if the peer has not promised to send first
     */
    public void connect(StreamParameters parameters, int longestUnit, long newHoldNs,
            long nowNs) {
        hasCrc = parameters.hasCrc();
        outboundReads = parameters.outboundReads();
        inboundReads = parameters.inboundReads();
        maxUnit = Math.min(longestUnit, FpduView.MAX_SENT_LENGTH);
        hasReceived = false;
        isConnected = true;
        isClosing = false;
        // [RFC 5044 7.1.2-3]
        isHolding = !parameters.isInitiator();
        isReplyLate = false;
        lateReplyNs = FIRST_LATE_REPLY_NS;
        holdNs = newHoldNs;
        holdUntilNs = parameters.readyToReceive() == ReadyToReceive.NONE
                ? nowNs + holdNs
                : Long.MAX_VALUE;
        boolean isWaitedFor = parameters.isInitiator()
                && parameters.readyToReceive() == ReadyToReceive.WRITE;
        reminders = 0;
        remindAtNs = isWaitedFor ? nowNs + FIRST_REMINDER_NS : Long.MAX_VALUE;
        requester.start(parameters);
        responder.start(parameters);
        state = QueuePairState.RTS;
    }

    /** Ends the stream normally, as soon as no posted work waits to be sent or answered. */
    public void disconnect() {
        isClosing = true;
    }

    /** {@return whether to close the stream as soon as the polled units have left} */
    public boolean isOver() {
        return terminate == null
                && (state == QueuePairState.ERR
                        || (isClosing && requester.isDrained() && !responder.hasAnswers()));
    }

    /** {@return whether posted work has not been sent or answered} The host ends a stream on which that makes no progress. */
    public boolean isWaiting() {
        return isConnected && !requester.isDrained();
    }

    @Override
    public void onSendPosted(long nowNs) {
        // [RFC 5041 6.2.1-1]
        if (state == QueuePairState.ERR) {
            requester.flush();
        }
    }

    @Override
    public void onReceivePosted(long nowNs) {
        if (state == QueuePairState.ERR) {
            responder.flush();
        }
    }

    @Override
    public boolean wantsReceiveDoorbell() {
        return state == QueuePairState.ERR && !responder.isShared();
    }

    @Override
    public long deadlineNs() {
        if (!isConnected) {
            return Long.MAX_VALUE;
        }
        if (isHolding) {
            return requester.isDrained() ? Long.MAX_VALUE : holdUntilNs;
        }
        return hasReceived ? Long.MAX_VALUE : remindAtNs;
    }

    @Override
    public void onDeadline(long nowNs) {
        if (isHolding && nowNs >= holdUntilNs) {
            endHold(nowNs);
        }
        if (nowNs >= remindAtNs && !hasReceived) {
            reminders++;
            remindAtNs = reminders == REMINDERS ? Long.MAX_VALUE
                    : nowNs + (FIRST_REMINDER_NS << reminders);
            requester.repeatFirst();
        }
    }

    /** The peer has to be given its time from when it has the reply. */
    private void endHold(long nowNs) {
        if (!host.isAcknowledged()) {
            isReplyLate = true;
            holdUntilNs = nowNs + lateReplyNs;
            lateReplyNs = Math.min(2 * lateReplyNs, LONGEST_LATE_REPLY_NS);
        } else if (isReplyLate) {
            isReplyLate = false;
            holdUntilNs = nowNs + holdNs;
        } else {
            isHolding = false;
        }
    }

    // ---------------------------------------------------------------- sending

    /**
     * Builds the next unit to send, which must be copied into the stream before any other call.
     *
     * @param out the object to build it in
     * @return the unit, or null if there is none now; ask again after any other call
     */
    public @Nullable OutgoingFpdu pollTransmit(OutgoingFpdu out, long nowNs) {
        // [RFC 5040 5.4-3] [RFC 5040 6.1-1]
        OutgoingFpdu last = terminate;
        if (last != null) {
            terminate = null;
            return last;
        }
        if (!isConnected || state == QueuePairState.ERR) {
            return null;
        }
        if (!requester.isWithinMessage() && !responder.isWithinAnswer()
                && requester.pollFirst(out)) {
            return out;
        }
        if (responder.hasAnswers() && !requester.isWithinMessage()
                && (responder.isWithinAnswer() || lastTurn == Turn.REQUEST || isHolding)) {
            return answer(out);
        }
        if (!isHolding) {
            // [RFC 5041 5.3-1]
            if (requester.poll(out, maxUnit)) {
                lastTurn = Turn.REQUEST;
                return out;
            }
            if (requester.hasFailed()) {
                fail(TerminateCause.RDMAP_CATASTROPHIC, null);
                return pollTransmit(out, nowNs);
            }
        }
        return responder.hasAnswers() ? answer(out) : null;
    }

    /** {@return whether the last polled unit is not the end of a message} */
    public boolean isWithinMessage() {
        return requester.isWithinMessage() || responder.isWithinAnswer();
    }

    private @Nullable OutgoingFpdu answer(OutgoingFpdu out) {
        TerminateCause refusal = responder.pollAnswer(out, maxUnit);
        if (refusal == null) {
            lastTurn = Turn.ANSWER;
            return out;
        }
        host.asyncEvent(AsyncEventType.QP_ACCESS_ERROR);
        fail(TerminateCause.RDMAP_CATASTROPHIC, null);
        OutgoingFpdu last = terminate;
        terminate = null;
        return last;
    }

    /** The unit that {@link #pollTransmit} has built was not copied, because the memory of its payload no longer exists. */
    public void onPayloadGone() {
        if (lastTurn == Turn.REQUEST) {
            requester.onPayloadGone();
        } else {
            host.asyncEvent(AsyncEventType.QP_ACCESS_ERROR);
        }
        fail(TerminateCause.RDMAP_CATASTROPHIC, null);
    }

    // ---------------------------------------------------------------- receiving

    /**
     * Processes received bytes.
     *
     * @param bytes the memory of the bytes, which belongs to the host
     * @param available the bytes from the offset on
     * @return the bytes that were used: whole units; the rest is to be offered again, with what follows it
     */
    public long onBytes(MemorySegment bytes, long offset, long available, long nowNs) {
        long at = offset;
        long end = offset + available;
        // [RFC 5040 7.1-3]
        while (isConnected && state != QueuePairState.ERR) {
            // [RFC 5044 3-2]
            int length = FpduView.lengthOf(bytes, at, end - at);
            // [RFC 5044 5.1-1]
            if (length == 0 || length > end - at) {
                return at - offset;
            }
            TerminateCause fault = view.wrap(bytes, at);
            // [RFC 5041 3-1]
            if (hasCrc && !view.hasRightCrc(crc)) {
                // [RFC 5044 4.4-3]
                fault = TerminateCause.WRONG_CRC;
            }
            // [RFC 5041 7.1-3]
            onUnit(fault);
            at += length;
        }
        return available;
    }

    private void onUnit(@Nullable TerminateCause malformed) {
        TerminateCause fault = malformed == null ? take() : malformed;
        if (fault != null) {
            report(fault);
            fail(fault, view);
            return;
        }
        host.count(Counter.RCVD_PKTS);
        isHolding = false;
        if (!hasReceived && state != QueuePairState.ERR) {
            hasReceived = true;
            host.peerIsReady();
        }
    }

    /** Reports an error by an event if no completion reports it, as siw does. */
    private void report(TerminateCause fault) {
        // [RFC 5040 7.1-1]
        if (responder.isAccessViolated()) {
            host.asyncEvent(AsyncEventType.QP_ACCESS_ERROR);
            return;
        }
        switch (fault) {
            case DDP_CATASTROPHIC, TAGGED_INVALID_KEY, TAGGED_OUT_OF_BOUNDS, INVALID_QUEUE,
                    INVALID_MESSAGE_NUMBER, INVALID_MESSAGE_OFFSET ->
                host.asyncEvent(AsyncEventType.QP_FATAL);
            default -> {
                // A completion reports it, or the end of the connection is sufficient.
            }
        }
    }

    private @Nullable TerminateCause take() {
        return switch (view.opcode()) {
            case WRITE -> responder.onWrite(view);
            case READ_REQUEST -> responder.onReadRequest(view);
            case READ_RESPONSE -> requester.onReadResponse(view);
            case SEND, SEND_INVALIDATE, SEND_SOLICITED, SEND_SOLICITED_INVALIDATE ->
                responder.onSend(view);
            case TERMINATE -> {
                // [RFC 5040 5.4-2]
                TerminateMessage message = TerminateMessage.of(view);
                requester.onTerminate(message);
                host.terminated(false, message.text());
                end();
                yield null;
            }
        };
    }

    // ---------------------------------------------------------------- the end

    /** The peer has ended the stream, or the network has. */
    public void onStreamEnd() {
        if (isConnected) {
            end();
        }
    }

    /** Reports an error to the peer and ends the stream. */
    private void fail(TerminateCause cause, @Nullable FpduView offending) {
        // [RFC 5040 7.1-2]
        // An error below DDP has no header to include.
        boolean hasHeader = offending != null && cause != TerminateCause.WRONG_CRC
                && cause != TerminateCause.WRONG_LENGTH;
        terminate = new OutgoingFpdu().terminate(cause, hasHeader ? offending : null);
        if (offending != null) {
            // For failures of this side a completion or an event names the reason more exactly than the Terminate.
            host.terminated(true, cause.text());
        }
        end();
    }

    private void end() {
        // [RFC 5044 8-2]
        isConnected = false;
        if (state != QueuePairState.ERR && state != QueuePairState.RESET) {
            // [RFC 5041 6.2.2-1]
            state = QueuePairState.ERR;
            host.stateChanged(state);
            flush();
        }
    }

    private void flush() {
        isConnected = false;
        requester.flush();
        responder.flush();
        if (responder.isShared() && !isLastReceiveReported) {
            // The other queue pairs continue to take from it. IBTA 10.2.9.4.
            isLastReceiveReported = true;
            host.asyncEvent(AsyncEventType.QP_LAST_WQE_REACHED);
        }
    }
}
