// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.RoceProtocol;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the reliable connection service: its state, and the three state machines that share it.
 *
 * <p>All failures are handled alike: the failed request completes with its
 * status, the state becomes ERR, and all other requests are flushed in order (IBTA 10.3.1.6).
 */
public final class RcQueuePair implements RoceProtocol {
    private final RcAttributes attributes = new RcAttributes();
    final SendWindow window;
    private final RetryTimer timer = new RetryTimer();
    private final RcRequester requester;
    private final RcCompleter completer;
    private final RcResponder responder;
    private final RcResponseSender answers;
    private final ReceiveQueue receiveQueue;
    private final RoceHost host;
    private final ReceiveDetails noDetails = new ReceiveDetails();
    private QueuePairState state = QueuePairState.RESET;
    private boolean isDrainPending;
    private boolean isCommunicationReported;
    private boolean isLastReceiveReported;
    private boolean isResponderTurn;
    private boolean answersFirst;
    /** Whether the last packet was a request that has left before an acknowledgement which was due. */
    private boolean hasOvertaken;
    private boolean isLastByResponder;
    /** Whether the last packet was a request with an acknowledgement. */
    private boolean isLastPiggyback;
    /**
     * The PSN after the last packet whose response has shown that an earlier response is missing, since that was requested
     * again.
     */
    private long missingShownBy;

    /** Creates one in state RESET over the host's queues and memory. */
    public RcQueuePair(SendQueue sendQueue, ReceiveQueue receiveQueue, Memory memory,
            RoceHost host) {
        this.receiveQueue = receiveQueue;
        this.host = host;
        window = new SendWindow(sendQueue);
        CongestionWindow congestion = new CongestionWindow();
        requester = new RcRequester(this, attributes, window, congestion, timer, memory, host);
        completer = new RcCompleter(this, attributes, window, congestion, timer, requester, memory,
                host);
        responder = new RcResponder(this::failAsResponder, attributes, receiveQueue, memory,
                host);
        answers = responder.answers();
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public void modify(QueuePairAttributes from, QueuePairState next, long nowNs) {
        attributes.apply(from);
        QueuePairState previous = state;
        state = next;
        timer.configure(attributes.timeoutNs(), attributes.retryCount, attributes.rnrRetry,
                attributes.sendPsn ^ (long) attributes.destinationQueuePair << Integer.SIZE);
        switch (next) {
            case RESET -> {
                host.withdrawPayloads();
                window.reset(0, 0);
                requester.reset();
                discardReceives();
                isDrainPending = false;
                isCommunicationReported = false;
                isLastReceiveReported = false;
            }
            case RTR -> responder.reset();
            case RTS -> {
                if (previous == QueuePairState.RTR) {
                    window.reset(attributes.sendPsn, attributes.maxReadAtomic);
                    requester.reset();
                    completer.reset();
                } else {
                    isDrainPending = false;
                }
            }
            case SQD -> {
                if (previous == QueuePairState.RTS) {
                    isDrainPending = attributes.notifyDrained;
                }
                window.reads.resize(attributes.maxReadAtomic);
                responder.resize();
                onSendProgress();
            }
            case ERR -> {
                if (previous != QueuePairState.ERR) {
                    host.withdrawPayloads();
                    flush();
                }
            }
            case INIT, SQE -> {
                // Nothing to prepare.
            }
        }
        if (isAlive()) {
            watchDue(nowNs);
        }
    }

    @Override
    public void firstRnrTimer(int code) {
        attributes.firstRnrTimer = code;
    }

    /** From now on a request may leave before an acknowledgement that is due: of the peer's sends none waits for the order. */
    public void answerFirst() {
        answersFirst = true;
    }

    @Override
    public void route(Path path) {
        attributes.path = path;
        timer.estimate(host.roundTrips(path));
    }

    @Override
    public void query(QueuePairAttributes into) {
        into.sendPsn(Psn.wrap(window.next));
        if (state == QueuePairState.RTR || state == QueuePairState.RTS
                || state == QueuePairState.SQD) {
            into.receivePsn(Psn.wrap(responder.expected()));
        }
    }

    @Override
    public void onPacket(PacketView packet, long nowNs) {
        if (packet.hasPiggyback() && isAlive()) {
            completer.onPiggyback(packet.piggyback(), nowNs);
            checkLocalFailure();
        }
        switch (state) {
            case RESET, INIT, ERR, SQE -> host.count(Counter.DROPPED_NOT_READY);
            case RTR, RTS, SQD -> {
                if (!packet.opcode().isResponse()) {
                    reportCommunication();
                    responder.onRequest(packet);
                    responder.release();
                } else if (state == QueuePairState.RTR) {
                    host.count(Counter.DROPPED_NOT_READY);
                } else {
                    completer.onResponse(packet, nowNs);
                    checkLocalFailure();
                }
            }
        }
    }

    private void reportCommunication() {
        if (!isCommunicationReported) {
            isCommunicationReported = true;
            host.peerIsReady();
            if (state == QueuePairState.RTR) {
                host.asyncEvent(AsyncEventType.COMMUNICATION_ESTABLISHED);
            }
        }
    }

    @Override
    public void onSendPosted(long nowNs) {
        if (state == QueuePairState.ERR) {
            flush();
        } else if (isAlive()) {
            watchDue(nowNs);
        }
    }

    @Override
    public void onReceivePosted(long nowNs) {
        if (state == QueuePairState.ERR) {
            flush();
        } else if (state != QueuePairState.RESET && state != QueuePairState.INIT) {
            responder.onReceivePosted();
        }
    }

    @Override
    public boolean wantsReceiveDoorbell() {
        return state == QueuePairState.ERR
                ? !receiveQueue.isShared()
                : responder.isReceiverNotReady();
    }

    @Override
    public boolean pollTransmit(OutgoingPacket out, long nowNs) {
        if (state == QueuePairState.RESET || state == QueuePairState.INIT) {
            return false;
        }
        // A long response and requests take turns, so that neither starves the other. A short one, such as an
        // acknowledgement, goes before the next request: a program that answers a message expects that the peer's send has
        // completed before the peer gets the answer.
        boolean overtakes = answersFirst && mayOvertake();
        hasOvertaken = false;
        isResponderTurn = !overtakes && (!isResponderTurn || answers.isNextShort());
        boolean hasPacket;
        isLastPiggyback = false;
        if (answers.isJustAcknowledgement() && host.piggybacks(attributes.path)) {
            hasPacket = pollWithAcknowledgement(out, nowNs);
        } else if (isResponderTurn) {
            isLastByResponder = responder.pollTransmit(out);
            hasPacket = isLastByResponder || requester.pollTransmit(out, nowNs);
        } else {
            hasPacket = requester.pollTransmit(out, nowNs);
            hasOvertaken = overtakes && hasPacket;
            if (overtakes && !hasPacket) {
                // The request may have failed, and the queue pair with it; what was carried out is acknowledged all the same.
                answers.acknowledge();
            }
            isLastByResponder = !hasPacket && responder.pollTransmit(out);
            hasPacket |= isLastByResponder;
        }
        responder.release();
        // Responses take the first turn: that of a READ acknowledges the requests before it.
        isResponderTurn &= hasPacket && mayTransmit();
        return hasPacket;
    }

    @Override
    public boolean mayTransmit() {
        return answers.isAnythingDue() || requester.mayTransmit();
    }

    /**
     * {@return whether a request may leave before the acknowledgement that is due} One packet, or some that leave as one, so that the peer's window opens again. Not where all
     * acknowledgements leave together in any case.
     */
    private boolean mayOvertake() {
        return !hasOvertaken && answers.isJustAcknowledgement() && requester.mayTransmit()
                && !host.sendsInTurns();
    }

    /** Sends the next request with the acknowledgement that is due, or if there is none the acknowledgement alone. */
    private boolean pollWithAcknowledgement(OutgoingPacket out, long nowNs) {
        // First: the request may fail, and the queue pair with it; what was carried out is acknowledged all the same.
        answers.takeAcknowledgement();
        isLastPiggyback = requester.pollTransmit(out, nowNs);
        isLastByResponder = !isLastPiggyback;
        if (isLastPiggyback) {
            answers.piggyback(out);
        } else {
            answers.sendTaken(out);
        }
        return true;
    }

    @Override
    public void onFlushed(long ticket, FlushOutcome outcome) {
        responder.onFlushed(ticket, outcome);
    }

    @Override
    public void onPayloadGone() {
        if (isLastByResponder) {
            responder.onPayloadGone();
            return;
        }
        requester.onPayloadGone();
        if (isLastPiggyback || hasOvertaken) {
            // Last, for the failure of the request takes back what the responder had to say.
            answers.acknowledge();
        }
    }

    @Override
    public long deadlineNs() {
        return state == QueuePairState.RTS || state == QueuePairState.SQD
                ? timer.deadlineNs()
                : RetryTimer.NEVER;
    }

    @Override
    public void onDeadline(long nowNs) {
        timer.endSpacing(nowNs);
        if (timer.isReceiverWaitOver(nowNs)) {
            timer.endReceiverWait(nowNs);
        } else if (timer.isTimeoutDue(nowNs)) {
            timer.onTimeout(nowNs);
            if (!timer.takeRetryForSilence(isHeldUpOnTheWay())) {
                giveUp();
            } else if (!window.isIdle()) {
                ask(RetransmissionCause.TIMEOUT, nowNs);
            }
        } else if (timer.isAskDue(nowNs)) {
            if (host.isLossless(attributes.path)) {
                timer.postponeAsking(nowNs);
            } else {
                ask(timer.isSilenceLong() ? RetransmissionCause.RTT_ESTIMATE
                        : RetransmissionCause.PROBE, nowNs);
            }
        }
    }

    private boolean isHeldUpOnTheWay() {
        return host.isHeldUp() || (timer.isKnownToQueue() && !host.isLossless(attributes.path));
    }

    /**
     * The time-out runs from when a request is due, and not only from when its first packet leaves: the host asks for none
     * while it has no room, because a ring is full or the network accepts nothing.
     */
    void watchDue(long nowNs) {
        if (!window.isIdle()) {
            // Then the timers of what was sent run.
            return;
        }
        if (isRequestDue()) {
            timer.onDue(nowNs);
        } else {
            timer.onIdle();
        }
    }

    private boolean isRequestDue() {
        return window.oldest < window.begun
                || (state == QueuePairState.RTS && window.begun < window.queue.end());
    }

    /** The peer is silent: one packet is sent again. */
    private void ask(RetransmissionCause cause, long nowNs) {
        if (cause != RetransmissionCause.PROBE) {
            host.count(Counter.COMPLETER_RETRY_ERR);
        }
        requester.ask(cause, nowNs);
    }

    // ---------------------------------------------------------------- for the three machines

    boolean isAlive() {
        return state == QueuePairState.RTS || state == QueuePairState.SQD;
    }

    /** The peer's answers show that a packet or an answer was lost. */
    void onLoss(RetransmissionCause sign, long nowNs) {
        if (window.next == window.una) {
            return;
        }
        if (!timer.isNewLoss(window.una, nowNs)) {
            timer.onOldSign();
            return;
        }
        if (timer.takeRetryForLoss(nowNs)) {
            sendAgain(sign, nowNs);
        } else {
            giveUp();
        }
    }

    /**
     * An answer came, and no response to what was asked before. What the peer had sent before it was asked again shows the
     * same, one packet after the other, however long that takes; answers to what was sent again begin anew.
     *
     * @param end behind the packet that is answered
     */
    void onResponseMissing(long end, long nowNs) {
        if (timer.isSameLoss(window.una) && end > missingShownBy) {
            missingShownBy = end;
            timer.onOldAnswer(nowNs);
            return;
        }
        onLoss(RetransmissionCause.IMPLIED_NAK, nowNs);
        missingShownBy = end;
    }

    /** The answer to a probe shows that later packets were lost; neither the probe nor this costs a retry. */
    void onMissing(long nowNs) {
        if (window.next > window.una) {
            sendAgain(RetransmissionCause.IMPLIED_NAK, nowNs);
        }
    }

    /** No retry is left. */
    private void giveUp() {
        host.count(Counter.RETRY_EXCEEDED_ERR);
        failOldest(completer.statusOfSilence());
    }

    private void sendAgain(RetransmissionCause cause, long nowNs) {
        host.count(Counter.COMPLETER_RETRY_ERR);
        host.retransmits(Psn.wrap(window.una), cause);
        missingShownBy = Long.MAX_VALUE;
        requester.goBack(nowNs);
    }

    /** The oldest unfinished request ends with an error, and the queue pair with it. */
    void failOldest(WorkCompletionStatus status) {
        boolean isFailing = state != QueuePairState.ERR;
        if (isFailing) {
            state = QueuePairState.ERR;
            host.withdrawPayloads();
            // A thread that sees the failed completion sees the state as well.
            host.stateChanged(QueuePairState.ERR);
        }
        if (window.oldest < window.queue.end()) {
            SendRequest request = window.queue.request(window.oldest);
            window.finishOldest(request);
            host.sendCompleted(request, status, 0);
        }
        if (isFailing) {
            flush();
        }
    }

    /** A request that failed on this side ends once everything before it is acknowledged. */
    void checkLocalFailure() {
        if (isAlive() && requester.isLocalFailureDue()) {
            failOldest(requester.localFailure());
        }
    }

    /** The responder gave a negative answer that ends the connection; some have no completion. */
    private void failAsResponder(@Nullable AsyncEventType event) {
        if (event != null) {
            host.asyncEvent(event);
        }
        fail();
    }

    /** A request without packets was carried out; it completes when all before it have completed. */
    void onLocalOperation(long nowNs) {
        completer.finish();
        watchDue(nowNs);
    }

    /** The send queue has progressed; in SQD it may be drained now. */
    void onSendProgress() {
        if (isDrainPending && window.oldest == window.begun) {
            isDrainPending = false;
            host.asyncEvent(AsyncEventType.SEND_QUEUE_DRAINED);
        }
    }

    private void fail() {
        if (state != QueuePairState.ERR) {
            state = QueuePairState.ERR;
            host.withdrawPayloads();
            // A thread that sees the failed completion sees the state as well.
            host.stateChanged(QueuePairState.ERR);
            flush();
        }
    }

    private void discardReceives() {
        ReceiveRequest unfinished = responder.unfinishedReceive();
        responder.reset();
        receiveQueue.takeAll(unfinished, receiveQueue::release);
    }

    private void flush() {
        timer.reset();
        ReceiveRequest unfinished = responder.unfinishedReceive();
        responder.stop();
        if (unfinished != null) {
            flush(unfinished);
        }
        while (window.oldest < window.queue.end()) {
            SendRequest request = window.queue.request(window.oldest);
            window.finishOldest(request);
            host.sendCompleted(request, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
        if (receiveQueue.isShared() && !isLastReceiveReported) {
            // The other queue pairs continue to take from it. IBTA 10.2.9.4.
            isLastReceiveReported = true;
            host.asyncEvent(AsyncEventType.QP_LAST_WQE_REACHED);
        }
        receiveQueue.takeAll(null, this::flush);
    }

    private void flush(ReceiveRequest request) {
        host.receiveCompleted(request, WorkCompletionStatus.WORK_REQUEST_FLUSHED,
                WorkCompletionOpcode.RECEIVE, 0, noDetails);
    }
}
