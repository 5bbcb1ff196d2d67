// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.protocol.work.QueuePairHost;
import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A queue pair as the engine sees it: its protocol, and its completion queues.
 *
 * <p>Only the engine's owner may use it, except for the doorbells ({@link #ring}).
 */
public abstract class EngineQueuePair implements QueuePairHost {
    /** Is notified of what no completion reports, in the thread that owns the engine. */
    public interface Listener {
        /** The state changed by itself. */
        void onState(QueuePairState state);

        /** The state changed, by a call or by the protocol; the cause is a word for later diagnosis. */
        void onMoved(QueuePairState from, QueuePairState to, String cause);

        /** Something happened. */
        void onAsyncEvent(AsyncEventType type);

        /**
         * Starts to write mapped memory to its file; must call {@link EngineQueuePair#onFlushed} at the end, but not
         * during this call.
         *
         * @return whether it was started
         */
        boolean flush(MemorySegment memory, long offset, long length, long ticket);
    }

    /** Send requests were posted. */
    public static final int SEND_DOORBELL = 1;
    /** Receive requests were posted. */
    public static final int RECEIVE_DOORBELL = 2;
    /** What {@link #tick} returns if the time is needed. */
    public static final long NO_TICK = Long.MIN_VALUE;

    /** What {@link #together} returns if nothing leaves with its packets. */
    public static final long ALONE = GatheredAnswers.ALONE;

    private final Engine engine;
    private final int number;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final CompletionRing sendCompletions;
    private final CompletionRing receiveCompletions;
    private final Listener listener;
    private final Counters counters = new Counters();
    private QueuePairState lastState = QueuePairState.RESET;
    /** The failure that the present call of the protocol has reported, if any. */
    private @Nullable Enum<?> failure;
    /** A state that the protocol changed to, until the reason is known. */
    private @Nullable QueuePairState unexplained;

    private final AtomicInteger doorbells = new AtomicInteger();
    private volatile boolean wantsReceiveDoorbell = true;
    @Nullable
    EngineQueuePair nextRung;

    boolean isActive;
    /** Whether it is in the engine's list of active ones; while it sends, it is active and not in it. */
    boolean isListed;
    @Nullable
    EngineQueuePair nextActive;
    /** Whether its protocol was called, and the engine has not looked at what that has changed. */
    boolean isUnsettled;
    boolean isDetached;
    long deadlineNs = DeadlineHeap.NEVER;
    /** The deadline by which the heap has placed it, never later than the deadline. */
    long heapNs = DeadlineHeap.NEVER;
    int heapIndex = -1;

    /** {@return how its messages travel at present, for people; empty if that is not known yet} For any thread. */
    public String way() {
        return "";
    }

    /**
     * {@return the address of the peer that it is connected to at present; null if there is none, or the attributes of the
     * queue pair have it} For any thread.
     */
    public @Nullable Gid peer() {
        return null;
    }

    /** {@return as {@code QueuePair.sendRefusal}} */
    public @Nullable String sendRefusal() {
        return null;
    }

    /** Creates a queue pair with these queues; the caller passes it to {@link Engine#attach}. */
    protected EngineQueuePair(Engine engine, int number, QueuePairQueues queues,
            Listener listener) {
        this.engine = engine;
        this.number = number;
        sendQueue = queues.sends();
        receiveQueue = queues.receives();
        sendCompletions = queues.sendCompletions();
        receiveCompletions = queues.receiveCompletions();
        this.listener = listener;
    }

    /** {@return its number} */
    public int number() {
        return number;
    }

    /** {@return its protocol} */
    public abstract QueuePairProtocol protocol();

    /** Applies attributes that were checked, and moves to a state. For the engine's owner. */
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs)
            throws RdmaException {
        protocol().modify(attributes, next, nowNs);
    }

    /**
     * Sends.
     *
     * @param most the number of packets, or of equally expensive units
     * @return how many were sent; fewer than {@code most} mean that there are no more now, or that the link is full
     */
    protected abstract int transmit(int most);

    /**
     * {@return a number that changes every few milliseconds} As long as it is the same, a time that was read since it last changed is exact enough to send.
     * {@link #NO_TICK} if the time itself is needed, because packets may be lost.
     */
    protected long tick() {
        return NO_TICK;
    }

    /**
     * {@return a number for where its next request goes} The packets of queue pairs with the same number leave by one system call. {@link #ALONE} if its
     * packets leave alone in any case.
     */
    protected long together() {
        return ALONE;
    }

    /** As {@link io.rdma4j.verbs.QueuePairInitAttributes#answerFirst(boolean)}. */
    public void answerFirst() {
        // Most transports have no acknowledgements, or an order of their own.
    }

    /** Called when the queue pair was removed from the engine, which carries out no more of its work. */
    protected void onDetached() {
        // Most transports have nothing to end.
    }

    /** {@return the engine} */
    protected final Engine engine() {
        return engine;
    }

    /** {@return its counters} */
    public Counters counters() {
        return counters;
    }

    /** {@return whether posted receive requests have to be announced now} For any thread. */
    public boolean wantsReceiveDoorbell() {
        return wantsReceiveDoorbell;
    }

    /** Fails the queue pair for a reason outside its protocol. */
    public void fail(long nowNs) {
        if (protocol().state() == QueuePairState.ERR
                || protocol().state() == QueuePairState.RESET) {
            return;
        }
        listener.onState(QueuePairState.ERR);
        protocol().modify(new QueuePairAttributes().state(QueuePairState.ERR), QueuePairState.ERR,
                nowNs);
        moved(QueuePairState.ERR, AsyncEventType.QP_FATAL.name());
        listener.onAsyncEvent(AsyncEventType.QP_FATAL);
    }

    /** The state was changed; the cause is a word for later diagnosis. */
    public void moved(QueuePairState state, String cause) {
        if (state != lastState) {
            listener.onMoved(lastState, state, cause);
            lastState = state;
        }
        unexplained = null;
        failure = null;
    }

    /**
     * Records a failure. It is known from a status or an event, which comes shortly before or right after the change of
     * state.
     */
    private void noticeFailure(@Nullable Enum<?> what) {
        failure = what;
        QueuePairState state = unexplained;
        if (state != null) {
            moved(state, what == null ? "UNKNOWN" : what.name());
        }
    }

    private void noticeStatus(WorkCompletionStatus status) {
        if (status != WorkCompletionStatus.SUCCESS
                && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            noticeFailure(status);
        }
    }

    /** Rings a doorbell. {@return whether none was ringing, so that the engine has to be notified} */
    boolean ring(int doorbell) {
        int ringing = doorbells.get();
        while ((ringing & doorbell) == 0) {
            if (doorbells.compareAndSet(ringing, ringing | doorbell)) {
                return ringing == 0;
            }
            ringing = doorbells.get();
        }
        return false;
    }

    int takeDoorbells() {
        return doorbells.getAndSet(0);
    }

    /** Called after the protocol: it may now need, or no longer need, notifications of receive requests. */
    void settle(long nowNs) {
        if (unexplained != null || failure != null) {
            noticeFailure(failure);
            failure = null;
        }
        boolean wants = protocol().wantsReceiveDoorbell();
        if (wants && !wantsReceiveDoorbell) {
            // A request may have been posted just before the flag was set.
            wantsReceiveDoorbell = true;
            protocol().onReceivePosted(nowNs);
        } else if (!wants && wantsReceiveDoorbell) {
            wantsReceiveDoorbell = false;
        }
    }

    // ---------------------------------------------------------------- what the protocol reports

    @Override
    public void sendCompleted(SendRequest request, WorkCompletionStatus status, long byteLength) {
        request.release();
        noticeStatus(status);
        WorkCompletionOpcode opcode = request.opcode().completionOpcode();
        if (status == WorkCompletionStatus.SUCCESS && opcode == WorkCompletionOpcode.SEND) {
            count(Counter.RDMA_SENDS, 1);
        }
        if (status == WorkCompletionStatus.SUCCESS && !request.isSignaled()) {
            sendQueue.retireSilently();
            return;
        }
        CompletionSlot completion = sendCompletions.free();
        if (completion == null) {
            sendQueue.retireSilently();
            onOverrun(sendCompletions);
            return;
        }
        completion.fill(request.id(), status, opcode, number, byteLength);
        if (status != WorkCompletionStatus.SUCCESS) {
            completion.fillDetail(detail(status));
        }
        sendQueue.retire();
        sendCompletions.add(completion, status != WorkCompletionStatus.SUCCESS);
    }

    /** {@return what is known of a failure beside its status, null if nothing} */
    protected @Nullable String detail(WorkCompletionStatus status) {
        return null;
    }

    private void onOverrun(CompletionRing ring) {
        if (!ring.isOverrunIgnored()) {
            engine.onOverrun(ring);
        }
    }

    @Override
    public void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details) {
        noticeStatus(status);
        if (status == WorkCompletionStatus.SUCCESS) {
            count(Counter.RDMA_RECVS, 1);
        }
        CompletionSlot completion = receiveCompletions.free();
        if (completion == null) {
            receiveQueue.release(request);
            onOverrun(receiveCompletions);
            return;
        }
        completion.fill(request.id(), status, opcode, number, byteLength);
        receiveQueue.release(request);
        if (details.hasImmediate()) {
            completion.fillImmediate(WorkCompletionFlag.WITH_IMMEDIATE,
                    details.immediateOrRkey());
        } else if (details.hasInvalidate()) {
            completion.fillImmediate(WorkCompletionFlag.WITH_INVALIDATE,
                    details.immediateOrRkey());
        }
        if (details.isDatagram()) {
            completion.fillSource(details.sourceQueuePairNumber(),
                    details.hasRoute() ? WorkCompletionFlag.GRH.bit() : 0);
        }
        engine.onDelivered();
        receiveCompletions.add(completion,
                details.isSolicited() || status != WorkCompletionStatus.SUCCESS);
    }

    @Override
    public boolean flush(MemorySegment memory, long offset, long length, long ticket) {
        return listener.flush(memory, offset, length, ticket);
    }

    /** Mapped memory was written to its file, or could not be. */
    public void onFlushed(long ticket, FlushOutcome outcome) {
        if (isDetached) {
            return;
        }
        try {
            protocol().onFlushed(ticket, outcome);
        } catch (RuntimeException | InternalError defect) {
            engine.contain(this, defect);
        }
        engine.touched(this);
    }

    @Override
    public void stateChanged(QueuePairState state) {
        unexplained = state;
        if (failure != null) {
            noticeFailure(failure);
        }
        listener.onState(state);
    }

    @Override
    public void asyncEvent(AsyncEventType type) {
        if (type == AsyncEventType.QP_ACCESS_ERROR || type == AsyncEventType.QP_REQUEST_ERROR) {
            noticeFailure(type);
        }
        listener.onAsyncEvent(type);
    }

    @Override
    public void count(Counter counter) {
        count(counter, 1);
    }

    @Override
    public void count(Counter counter, long times) {
        if (isDetached) {
            // The device's counters have its own already.
            engine.counters().add(counter, times);
        } else {
            counters.add(counter, times);
        }
    }

    /** Counts packets, and their bytes. */
    public final void count(Counter packets, long number, Counter bytes, long length) {
        if (isDetached) {
            engine.counters().add(packets, number);
            engine.counters().add(bytes, length);
        } else {
            counters.add(packets, number, bytes, length);
        }
    }
}
