package io.rdma4j.softnic;

import io.rdma4j.protocol.queue.MemoryReference;
import io.rdma4j.protocol.queue.ReceiveRequest;
import io.rdma4j.protocol.queue.SendRequest;
import io.rdma4j.protocol.rc.RcQueuePair;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedQueuePair;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A queue pair: checks what applications ask, keeps its queues, leaves the protocol to the engine.
 */
final class SoftQueuePair implements QueuePair, EngineQueuePair.Listener {
    private final SoftProtectionDomain domain;
    private final QueuePairPlan plan;
    private final EngineDriver driver;
    private final SendRing sendRing;
    private final ReceiveRing receiveRing;
    private final EngineQueuePair engineSide;
    private final MemoryReference inlineSource = new MemoryReference();
    private QueuePairAttributes known = new QueuePairAttributes();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean isClosed;

    /** For the engine's owner. */
    SoftQueuePair(SoftProtectionDomain domain, QueuePairPlan plan) {
        this.domain = domain;
        this.plan = plan;
        driver = domain.nic().driver();
        QueuePairCapabilities sizes = plan.capabilities();
        sendRing = new SendRing(sizes.maxSendRequests(), sizes.maxSendElements(),
                sizes.maxInlineData());
        receiveRing = new ReceiveRing(sizes.maxReceiveRequests(), sizes.maxReceiveElements());
        engineSide = new EngineQueuePair(driver.engine(), driver.engine().newQueuePairNumber(),
                Opcode.Service.RC, sendRing, receiveRing, plan.sendQueue().ring(),
                plan.receiveQueue().ring(), this,
                host -> new RcQueuePair(sendRing, receiveRing, domain.memory(), host));
        driver.engine().attach(engineSide);
        plan.sendQueue().attach(engineSide);
        plan.receiveQueue().attach(engineSide);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int number() {
        return engineSide.number();
    }

    @Override
    public QueuePairType type() {
        return plan.type();
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public CompletionQueue sendCompletionQueue() {
        return plan.sendQueue();
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return plan.receiveQueue();
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return null;
    }

    @Override
    public @Nullable Object userContext() {
        return plan.userContext();
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return plan.capabilities();
    }

    @Override
    public long counter(Counter counter) {
        return engineSide.counters().value(counter);
    }

    // ---------------------------------------------------------------- state

    @Override
    public void modify(QueuePairAttributes attributes) throws RdmaException {
        driver.call(nowNs -> {
            checkOpen();
            QueuePairState next = QueuePairTransitions.check(type(), state, attributes);
            ModifyChecks.check(domain.owner(), attributes);
            if (attributes.isSet(QueuePairAttribute.ADDRESS_VECTOR)) {
                route(attributes.addressVector());
            }
            if (next == QueuePairState.RESET) {
                known = new QueuePairAttributes();
            } else {
                known.merge(attributes);
            }
            engineSide.protocol().modify(attributes, next, nowNs);
            state = engineSide.protocol().state();
            driver.engine().touched(engineSide);
            return this;
        });
    }

    private void route(AddressHandleAttributes to) {
        Gid local = domain.nic().gids().get(to.sourceGidIndex());
        engineSide.connect(local, to.destination());
        engineSide.protocol().route(new Path(local, to.destination(), to.trafficClass(),
                to.flowLabel(), to.hopLimit()));
    }

    @Override
    public QueuePairAttributes query() throws RdmaException {
        return driver.call(nowNs -> {
            checkOpen();
            QueuePairAttributes result = new QueuePairAttributes().merge(known).state(state)
                    .currentState(state).capabilities(capabilities());
            engineSide.protocol().query(result);
            return result;
        });
    }

    @Override
    public void onState(QueuePairState newState) {
        state = newState;
    }

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        domain.owner().asyncEvents().publish(SoftAsyncEvent.of(type, this));
    }

    private void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the queue pair is closed");
        }
    }

    // ---------------------------------------------------------------- posting

    @Override
    public void postSend(SendWorkRequest request) throws RdmaException {
        synchronized (sendRing) {
            enqueue(request);
        }
        driver.ring(engineSide, EngineQueuePair.SEND_BELL);
    }

    @Override
    public void postSend(List<SendWorkRequest> requests) throws RdmaException {
        int posted = 0;
        try {
            synchronized (sendRing) {
                for (; posted < requests.size(); posted++) {
                    enqueue(requests.get(posted));
                }
            }
        } catch (RdmaException refused) {
            throw new PostException(refused, posted);
        } finally {
            if (posted > 0) {
                driver.ring(engineSide, EngineQueuePair.SEND_BELL);
            }
        }
    }

    private void enqueue(SendWorkRequest request) throws RdmaException {
        checkOpen();
        PostChecks.check(request, state, capabilities());
        SendRequest slot = sendRing.free();
        if (slot == null) {
            throw PostChecks.full(true, capabilities().maxSendRequests());
        }
        slot.assign(request, plan.signalAll());
        if (request.has(SendFlag.INLINE)) {
            enqueueInline(request, slot);
        }
        sendRing.post();
    }

    private void enqueueInline(SendWorkRequest request, SendRequest slot) throws RdmaException {
        slot.beginInline();
        MemorySegment data = request.inlineData();
        if (data != null) {
            slot.appendInline(data, 0, data.byteSize());
            return;
        }
        ScatterGatherList elements = request.elements();
        for (int i = 0; i < elements.count(); i++) {
            long length = elements.length(i);
            if (length == 0) {
                continue;
            }
            if (!domain.memory().local(elements.lkey(i), elements.address(i), length, false,
                    inlineSource)) {
                throw new RdmaException(Errno.EFAULT, "post send", "element " + i
                        + " of the inline data names no registered memory; give its bytes with"
                        + " SendWorkRequest.inline instead");
            }
            slot.appendInline(inlineSource.segment(), inlineSource.offset(), length);
        }
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) throws RdmaException {
        synchronized (receiveRing) {
            enqueue(request);
        }
        ringReceive();
    }

    @Override
    public void postReceive(List<ReceiveWorkRequest> requests) throws RdmaException {
        int posted = 0;
        try {
            synchronized (receiveRing) {
                for (; posted < requests.size(); posted++) {
                    enqueue(requests.get(posted));
                }
            }
        } catch (RdmaException refused) {
            throw new PostException(refused, posted);
        } finally {
            if (posted > 0) {
                ringReceive();
            }
        }
    }

    private void enqueue(ReceiveWorkRequest request) throws RdmaException {
        checkOpen();
        PostChecks.check(request, state, capabilities());
        ReceiveRequest slot = receiveRing.free();
        if (slot == null) {
            throw PostChecks.full(false, capabilities().maxReceiveRequests());
        }
        slot.assign(request);
        receiveRing.post();
    }

    /** Receives concern the engine only when the peer waits for one, or when they are flushed. */
    private void ringReceive() {
        if (engineSide.wantsReceiveBell()) {
            driver.ring(engineSide, EngineQueuePair.RECEIVE_BELL);
        }
    }

    // ---------------------------------------------------------------- what RC does not have

    @Override
    public void bindMemoryWindow(MemoryWindow window, long requestId, MemoryWindowBind bind,
            boolean signaled) throws RdmaException {
        throw RdmaException.unsupported("bind memory window", "this device has none");
    }

    @Override
    public void attachMulticast(Gid group) throws RdmaException {
        throw new RdmaException(Errno.EINVAL, "attach to multicast group",
                "only UD queue pairs can be attached, not " + type());
    }

    @Override
    public void detachMulticast(Gid group) throws RdmaException {
        throw new RdmaException(Errno.EINVAL, "detach from multicast group",
                "only UD queue pairs can be attached, not " + type());
    }

    @Override
    public ExtendedQueuePair extended() {
        throw new IllegalStateException("not yet");
    }

    @Override
    public boolean isDataInOrder(SendOpcode opcode) {
        return false;
    }

    @Override
    public void enhancedConnectionOptions(EnhancedConnectionOptions options)
            throws RdmaException {
        throw RdmaException.unsupported("set ECE", "not yet");
    }

    @Override
    public EnhancedConnectionOptions enhancedConnectionOptions() {
        return EnhancedConnectionOptions.NONE;
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() throws RdmaException {
        driver.call(nowNs -> {
            if (!isClosed) {
                isClosed = true;
                driver.engine().detach(engineSide);
                plan.sendQueue().detach(engineSide);
                plan.receiveQueue().detach(engineSide);
                domain.children().remove("queue pair");
                domain.owner().totals().remove("queue pair");
            }
            return this;
        });
    }
}
