package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.protocol.work.QueuePairHost;
import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A queue pair as the engine sees it: its protocol, and where completions go.
 *
 * <p>All but {@link #ring}'s bells belongs to the engine's owner.
 */
public final class EngineQueuePair implements QueuePairHost {
    /** Hears what no completion reports, in the thread that owns the engine. */
    public interface Listener {
        /** The state changed by itself. */
        void onState(QueuePairState state);

        /** Something happened. */
        void onAsyncEvent(AsyncEventType type);

        /** A bind or an invalidation is to be carried out. {@return how it ended} */
        WorkCompletionStatus carryOut(SendRequest request);

        /** The peer invalidates a key. {@return whether it may} */
        boolean invalidate(int rkey);

        /**
         * Mapped memory is to be written to its file; {@link EngineQueuePair#onFlushed} is to be told, but not during the
         * call.
         *
         * @return whether it has been started
         */
        boolean flush(MemorySegment memory, long offset, long length, long ticket);
    }

    /** Send requests were posted. */
    public static final int SEND_DOORBELL = 1;
    /** Receive requests were posted. */
    public static final int RECEIVE_DOORBELL = 2;

    private final Engine engine;
    private final int number;
    private final Opcode.Service service;
    private final QueuePairProtocol protocol;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final CompletionRing sendCompletions;
    private final CompletionRing receiveCompletions;
    private final Listener listener;
    private final Counters counters = new Counters();
    private @Nullable Gid local;
    private @Nullable Gid peer;
    private QueuePairState lastState = QueuePairState.RESET;
    /** What is known of a failure in the call of the protocol under way. */
    private @Nullable Enum<?> failure;
    /** A state that the protocol went to, as long as the reason is not known. */
    private @Nullable QueuePairState unexplained;

    private final AtomicInteger bells = new AtomicInteger();
    private volatile boolean wantsReceiveDoorbell = true;
    @Nullable
    EngineQueuePair nextRung;

    boolean isActive;
    boolean isDetached;
    long deadlineNs = DeadlineHeap.NEVER;
    int heapIndex = -1;

    /**
     * @param protocolOf makes the protocol, given its host
     */
    public EngineQueuePair(Engine engine, int number, Opcode.Service service,
            SendQueue sendQueue, ReceiveQueue receiveQueue, CompletionRing sendCompletions,
            CompletionRing receiveCompletions, Listener listener,
            Function<QueuePairHost, QueuePairProtocol> protocolOf) {
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.engine = engine;
        this.number = number;
        this.service = service;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.listener = listener;
        protocol = protocolOf.apply(this);
    }

    /** {@return its number} */
    public int number() {
        return number;
    }

    /** {@return its protocol} */
    public QueuePairProtocol protocol() {
        return protocol;
    }

    /** {@return its counters} */
    public Counters counters() {
        return counters;
    }

    /** Sets the only addresses its packets travel between. */
    public void connect(Gid newLocal, Gid newPeer) {
        local = newLocal;
        peer = newPeer;
    }

    /** {@return whether receive requests have to be announced now} Any thread may ask. */
    public boolean wantsReceiveDoorbell() {
        return wantsReceiveDoorbell;
    }

    /** Fails the queue pair for a reason outside its protocol. */
    public void fail(long nowNs) {
        if (protocol.state() == QueuePairState.ERR || protocol.state() == QueuePairState.RESET) {
            return;
        }
        listener.onState(QueuePairState.ERR);
        protocol.modify(new QueuePairAttributes().state(QueuePairState.ERR), QueuePairState.ERR,
                nowNs);
        moved(QueuePairState.ERR, AsyncEventType.QP_FATAL.name());
        listener.onAsyncEvent(AsyncEventType.QP_FATAL);
    }

    /** The state was changed; the cause is a word for who looks at it later. */
    public void moved(QueuePairState state, String cause) {
        if (state != lastState) {
            FlightEvents.queuePairState(number, lastState, state, cause);
            lastState = state;
        }
        unexplained = null;
        failure = null;
    }

    /** A failure shows by a status or an event, which comes shortly before the state or right behind it. */
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

    Opcode.Service service() {
        return service;
    }

    /** {@return whether it takes packets that travelled between two addresses} Datagrams come from anywhere. */
    boolean isFrom(Gid packetLocal, Gid packetPeer) {
        return service == Opcode.Service.UD
                || (packetPeer.equals(peer) && packetLocal.equals(local));
    }

    /** Rings a bell. {@return whether none was ringing, so that the engine has to be told} */
    boolean ring(int bell) {
        int ringing = bells.get();
        while ((ringing & bell) == 0) {
            if (bells.compareAndSet(ringing, ringing | bell)) {
                return ringing == 0;
            }
            ringing = bells.get();
        }
        return false;
    }

    int takeDoorbells() {
        return bells.getAndSet(0);
    }

    /** The protocol was called: it may want, or no longer want, to hear of receive requests. */
    void settle(long nowNs) {
        if (unexplained != null || failure != null) {
            noticeFailure(failure);
            failure = null;
        }
        boolean wants = protocol.wantsReceiveDoorbell();
        if (wants && !wantsReceiveDoorbell) {
            // A request may have been posted just before it was wanted.
            wantsReceiveDoorbell = true;
            protocol.onReceivePosted(nowNs);
        } else if (!wants && wantsReceiveDoorbell) {
            wantsReceiveDoorbell = false;
        }
    }

    // ---------------------------------------------------------------- what the protocol reports

    @Override
    public void sendCompleted(SendRequest request, WorkCompletionStatus status, long byteLength) {
        request.release();
        noticeStatus(status);
        if (status == WorkCompletionStatus.SUCCESS
                && request.opcode().completionOpcode() == WorkCompletionOpcode.SEND) {
            count(Counter.RDMA_SENDS, 1);
        }
        if (status == WorkCompletionStatus.SUCCESS && !request.isSignaled()) {
            sendQueue.retire();
            return;
        }
        WorkCompletion completion = sendCompletions.free();
        if (completion == null) {
            sendQueue.retire();
            onOverrun(sendCompletions);
            return;
        }
        completion.fill(request.id(), status, request.opcode().completionOpcode(), number,
                byteLength);
        sendQueue.retire();
        sendCompletions.add(completion, status != WorkCompletionStatus.SUCCESS);
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
        WorkCompletion completion = receiveCompletions.free();
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
            completion.fillSource(details.sourceQueuePair(), WorkCompletionFlag.GRH.bit());
        }
        engine.onDelivered();
        receiveCompletions.add(completion,
                details.isSolicited() || status != WorkCompletionStatus.SUCCESS);
    }

    @Override
    public WorkCompletionStatus carryOut(SendRequest request) {
        return listener.carryOut(request);
    }

    @Override
    public boolean invalidate(int rkey) {
        return listener.invalidate(rkey);
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
            protocol.onFlushed(ticket, outcome);
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
    public void peerIsReady() {
        engine.onPeerReady(number);
    }

    @Override
    public int maxSegments(Path path) {
        return engine.maxSegments(path);
    }

    @Override
    public int maxMiddleSegments(Path path) {
        return engine.maxMiddleSegments(path);
    }

    @Override
    public RoundTripEstimate roundTrips(Path path) {
        return engine.roundTrips(path);
    }

    @Override
    public void retransmits(int psn, RetransmissionCause cause) {
        FlightEvents.retransmission(number, psn, cause);
    }

    @Override
    public void count(Counter counter) {
        count(counter, 1);
        if (counter.isDrop()) {
            FlightEvents.drop(counter, engine.packetSource(), number);
        } else if (counter == Counter.SEND_RNR_ERR || counter == Counter.RCVD_RNR_ERR) {
            FlightEvents.receiverNotReady(number, counter == Counter.SEND_RNR_ERR);
        }
    }

    @Override
    public void count(Counter counter, long times) {
        counters.add(counter, times);
        engine.counters().add(counter, times);
    }
}
