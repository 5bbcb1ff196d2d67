// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.RoceProtocol;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The common part of unreliable queue pairs: the state, the send queue and the completion of requests.
 *
 * <p>A send completes when the packet after its last one is polled, because by then the host has copied its memory. A send
 * that fails on this side stops only the send queue (SQE, IBTA 10.3.1.4); receiving continues.
 */
public abstract sealed class UnreliableQueuePair implements RoceProtocol
        permits
        UcQueuePair, UdQueuePair {
    final Memory memory;
    final RoceHost host;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final ReceiveDetails noDetails = new ReceiveDetails();
    private QueuePairState state = QueuePairState.RESET;
    private boolean isDrainPending;
    private boolean isCommunicationReported;
    private boolean isLastReceiveReported;

    /** The present request, and how many of its bytes were sent. */
    private long oldest;
    private long offset;
    private boolean isBegun;
    private boolean isSent;
    private long nextPsn;
    private int mtu;

    /** The receive request of a message that is not complete, or that the last message did not use. */
    private @Nullable ReceiveRequest receive;

    /** @param mtu the payload of a packet until the path MTU is set */
    UnreliableQueuePair(SendQueue sendQueue, ReceiveQueue receiveQueue, Memory memory,
            RoceHost host, int mtu) {
        this.mtu = mtu;
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.memory = memory;
        this.host = host;
    }

    // ---------------------------------------------------------------- what the kinds differ in

    /** Sets the attributes of this type. */
    abstract void apply(QueuePairAttributes from);

    /** Starts to receive anew. */
    abstract void startReceiving();

    /** A packet arrived in a state that receives. */
    abstract void receive(PacketView packet);

    /**
     * Builds a packet of a request.
     *
     * @param from the byte of the message that it starts with
     * @param payload its bytes
     * @return false if an element names memory that may not be read
     */
    abstract boolean build(SendRequest request, long from, int payload, long psn,
            OutgoingPacket out);

    // ---------------------------------------------------------------- state

    @Override
    public final QueuePairState state() {
        return state;
    }

    final int mtu() {
        return mtu;
    }

    @Override
    public final void modify(QueuePairAttributes from, QueuePairState next, long nowNs) {
        if (from.isSet(QueuePairAttribute.PATH_MTU)) {
            mtu = from.pathMtu().bytes();
        }
        if (from.isSet(QueuePairAttribute.SEND_PSN)) {
            nextPsn = from.sendPsn();
        }
        apply(from);
        QueuePairState previous = state;
        state = next;
        switch (next) {
            case RESET -> reset();
            case RTR -> startReceiving();
            case RTS -> isDrainPending = false;
            case SQD -> {
                if (previous == QueuePairState.RTS) {
                    isDrainPending = from.isSet(QueuePairAttribute.ENABLE_SQD_ASYNC_NOTIFY)
                            && from.enableSqdAsyncNotify();
                }
                reportDrained();
            }
            case ERR -> {
                if (previous != QueuePairState.ERR) {
                    flush();
                }
            }
            case INIT, SQE -> {
                // Nothing to prepare.
            }
        }
    }

    private void reset() {
        oldest = sendQueue.clear();
        offset = 0;
        isBegun = false;
        isSent = false;
        isDrainPending = false;
        isCommunicationReported = false;
        isLastReceiveReported = false;
        ReceiveRequest unfinished = receive;
        receive = null;
        receiveQueue.takeAll(unfinished, receiveQueue::release);
    }

    @Override
    public void query(QueuePairAttributes into) {
        into.sendPsn(Psn.wrap(nextPsn));
    }

    @Override
    public final void onPacket(PacketView packet, long nowNs) {
        switch (state) {
            case RESET, INIT, ERR -> host.count(Counter.DROPPED_NOT_READY);
            case RTR, RTS, SQD, SQE -> {
                if (!isCommunicationReported) {
                    isCommunicationReported = true;
                    host.peerIsReady();
                    if (state == QueuePairState.RTR) {
                        host.asyncEvent(AsyncEventType.COMMUNICATION_ESTABLISHED);
                    }
                }
                receive(packet);
            }
        }
    }

    @Override
    public final void onSendPosted(long nowNs) {
        if (state == QueuePairState.ERR || state == QueuePairState.SQE) {
            flushSends();
        }
    }

    @Override
    public final void onReceivePosted(long nowNs) {
        if (state == QueuePairState.ERR) {
            flushReceives();
        }
    }

    @Override
    public final boolean wantsReceiveDoorbell() {
        return state == QueuePairState.ERR && !receiveQueue.isShared();
    }

    @Override
    public final long deadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public final void onDeadline(long nowNs) {
        // There is none.
    }

    // ---------------------------------------------------------------- sending

    @Override
    public final boolean pollTransmit(OutgoingPacket out, long nowNs) {
        finishSent();
        while (maySend() && oldest < sendQueue.end()) {
            SendRequest request = sendQueue.request(oldest);
            if (!request.isLocal()) {
                return sendPacket(request, out);
            }
            WorkCompletionStatus status = memory.carryOut(request);
            if (status == WorkCompletionStatus.SUCCESS) {
                finish(request);
            } else {
                failSend(request, status);
            }
        }
        return false;
    }

    /** In SQD a message that was begun is still finished. */
    private boolean maySend() {
        return state == QueuePairState.RTS || (state == QueuePairState.SQD && isBegun);
    }

    private boolean sendPacket(SendRequest request, OutgoingPacket out) {
        int payload = (int) Math.min(mtu, request.length() - offset);
        if (!build(request, offset, payload, nextPsn, out)) {
            failSend(request, WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            return false;
        }
        isBegun = true;
        nextPsn++;
        offset += payload;
        isSent = offset == request.length();
        return true;
    }

    /** To the peer it is lost: on a direct path it has seen the packet's number already. */
    @Override
    public final void onPayloadGone() {
        failSend(sendQueue.request(oldest), WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    private void finishSent() {
        if (isSent) {
            finish(sendQueue.request(oldest));
        }
    }

    private void finish(SendRequest request) {
        advance();
        host.sendCompleted(request, WorkCompletionStatus.SUCCESS, 0);
        reportDrained();
    }

    private void advance() {
        oldest++;
        offset = 0;
        isBegun = false;
        isSent = false;
    }

    private void reportDrained() {
        if (isDrainPending && state == QueuePairState.SQD && !isBegun) {
            isDrainPending = false;
            host.asyncEvent(AsyncEventType.SEND_QUEUE_DRAINED);
        }
    }

    private void failSend(SendRequest request, WorkCompletionStatus status) {
        state = QueuePairState.SQE;
        host.stateChanged(state);
        advance();
        host.sendCompleted(request, status, 0);
        flushSends();
    }

    // ---------------------------------------------------------------- receiving

    /** {@return the receive request for the message that begins, or null if none is posted} */
    final @Nullable ReceiveRequest takeReceive() {
        if (receive == null) {
            receive = receiveQueue.take();
        }
        if (receive == null) {
            host.count(Counter.DROPPED_MESSAGE);
        }
        return receive;
    }

    /** {@return the receive request of the message under way, or null} */
    final @Nullable ReceiveRequest receive() {
        return receive;
    }

    /** The message is complete. */
    final void finishReceive(ReceiveRequest finished, WorkCompletionOpcode opcode, long length,
            ReceiveDetails details) {
        receive = null;
        host.receiveCompleted(finished, WorkCompletionStatus.SUCCESS, opcode, length, details);
    }

    /** The receive request names memory that may not be written, which is an error of this side. */
    final void failReceive(ReceiveRequest failed) {
        receive = null;
        state = QueuePairState.ERR;
        host.stateChanged(state);
        host.receiveCompleted(failed, WorkCompletionStatus.LOCAL_PROTECTION_ERROR,
                WorkCompletionOpcode.RECEIVE, 0, noDetails);
        flush();
    }

    // ---------------------------------------------------------------- the end

    private void flush() {
        flushSends();
        flushReceives();
        if (receiveQueue.isShared() && !isLastReceiveReported) {
            // The other queue pairs continue to take from it. IBTA 10.2.9.4.
            isLastReceiveReported = true;
            host.asyncEvent(AsyncEventType.QP_LAST_WQE_REACHED);
        }
    }

    private void flushSends() {
        finishSent();
        while (oldest < sendQueue.end()) {
            SendRequest request = sendQueue.request(oldest);
            advance();
            host.sendCompleted(request, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
    }

    private void flushReceives() {
        ReceiveRequest unfinished = receive;
        receive = null;
        receiveQueue.takeAll(unfinished, this::flush);
    }

    private void flush(ReceiveRequest request) {
        host.receiveCompleted(request, WorkCompletionStatus.WORK_REQUEST_FLUSHED,
                WorkCompletionOpcode.RECEIVE, 0, noDetails);
    }
}
