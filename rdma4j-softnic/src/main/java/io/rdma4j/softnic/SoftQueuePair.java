package io.rdma4j.softnic;

import io.rdma4j.protocol.queue.QueuePairHost;
import io.rdma4j.protocol.queue.QueuePairProtocol;
import io.rdma4j.protocol.queue.ReceiveQueue;
import io.rdma4j.protocol.queue.ReceiveRequest;
import io.rdma4j.protocol.queue.SendRequest;
import io.rdma4j.protocol.rc.RcQueuePair;
import io.rdma4j.protocol.unreliable.UcQueuePair;
import io.rdma4j.protocol.unreliable.UdQueuePair;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.softnic.engine.Counters;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.memory.DomainMemory;
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
import io.rdma4j.verbs.MemoryWindowType;
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
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A queue pair: checks what applications ask, keeps its queues, leaves the protocol to the engine.
 */
final class SoftQueuePair implements QueuePair, EngineQueuePair.Listener {
    private final SoftProtectionDomain domain;
    private final QueuePairPlan plan;
    private final EngineDriver driver;
    private final SendPosting posting;
    private final ReceiveRing receiveRing;
    private final EngineQueuePair engineSide;
    private final AsyncEventSource events;
    private final @Nullable QueueMemory inlineMemory;
    private final @Nullable SoftSendBatch batch;
    private final int datagramLength;
    private final Set<Gid> groups = new HashSet<>();
    private QueuePairAttributes known = new QueuePairAttributes();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean isClosed;
    private volatile @Nullable Gid peer;
    private volatile int peerNumber;

    /** For the engine's owner. */
    SoftQueuePair(SoftProtectionDomain domain, QueuePairPlan plan) {
        this.domain = domain;
        this.plan = plan;
        driver = domain.nic().driver();
        QueuePairCapabilities sizes = plan.capabilities();
        // An atomic write piece by piece carries its 8 bytes with it, whatever else is inline.
        Set<SendOpcode> operations = plan.sendOperations();
        int inlineSize = operations != null && operations.contains(SendOpcode.ATOMIC_WRITE)
                ? Math.max(Long.BYTES, sizes.maxInlineData())
                : sizes.maxInlineData();
        long inlineBytes = SendRing.inlineMemoryFor(sizes.maxSendRequests(), inlineSize);
        inlineMemory = inlineBytes == 0 ? null : domain.allocate(inlineBytes);
        SendRing sendRing = new SendRing(sizes.maxSendRequests(), sizes.maxSendElements(),
                inlineSize, inlineMemory == null ? null : inlineMemory.memory());
        receiveRing = new ReceiveRing(sizes.maxReceiveRequests(), sizes.maxReceiveElements());
        int number = driver.engine().newQueuePairNumber();
        DomainMemory memory = domain.memoryOf(number);
        posting = new SendPosting(this, sendRing, memory, plan);
        batch = operations == null ? null : new SoftSendBatch(this, posting, operations);
        datagramLength = domain.nic().device().activeMtu().bytes();
        events = AsyncEventSource.of(domain.owner().asyncEvents(), this);
        SoftSharedReceiveQueue shared = plan.sharedReceives();
        ReceiveQueue receives = shared == null ? receiveRing : shared.view();
        engineSide = new EngineQueuePair(driver.engine(), number, service(plan.type()), sendRing,
                receives, plan.sendQueue().ring(), plan.receiveQueue().ring(), this,
                host -> protocol(plan.type(), number, sendRing, receives, memory, host));
        driver.engine().attach(engineSide);
        domain.nic().queuePairs().add(this);
        plan.sendQueue().attach(engineSide);
        plan.receiveQueue().attach(engineSide);
        if (shared != null) {
            shared.attach(engineSide);
        }
    }

    private static Opcode.Service service(QueuePairType type) {
        return switch (type) {
            case RC -> Opcode.Service.RC;
            case UC -> Opcode.Service.UC;
            case UD -> Opcode.Service.UD;
            case RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> throw new IllegalArgumentException(
                    type + " is not offered");
        };
    }

    private static QueuePairProtocol protocol(QueuePairType type, int number, SendRing sends,
            ReceiveQueue receives, DomainMemory memory, QueuePairHost host) {
        return switch (service(type)) {
            case RC -> new RcQueuePair(sends, receives, memory, host);
            case UC -> new UcQueuePair(sends, receives, memory, host);
            case UD -> new UdQueuePair(number, sends, receives, memory, host);
            case CONGESTION -> throw new IllegalArgumentException("no queue pair has it");
        };
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    SoftProtectionDomain owner() {
        return domain;
    }

    /** {@return the longest datagram, in bytes} */
    int datagramLength() {
        return datagramLength;
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
        return plan.sharedReceives();
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

    /** {@return all its counters} Any thread may read them. */
    Counters counters() {
        return engineSide.counters();
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
                domain.nic().forgetBinds(this);
            } else {
                known.merge(attributes);
            }
            noticePeer();
            engineSide.protocol().modify(attributes, next, nowNs);
            state = engineSide.protocol().state();
            engineSide.moved(state, "MODIFY");
            driver.engine().touched(engineSide);
            return this;
        });
    }

    /** What {@code known} says of the peer, for any thread. */
    private void noticePeer() {
        peer = known.isSet(QueuePairAttribute.ADDRESS_VECTOR)
                ? known.addressVector().destination()
                : null;
        peerNumber = known.isSet(QueuePairAttribute.DESTINATION_QUEUE_PAIR)
                ? known.destinationQueuePair()
                : 0;
    }

    /** {@return the peer's address, null without one} Any thread may ask. */
    @Nullable
    Gid peer() {
        return peer;
    }

    /** {@return the number of the peer's queue pair, 0 without one} Any thread may ask. */
    int peerNumber() {
        return peerNumber;
    }

    private void route(AddressHandleAttributes to) {
        Gid local = domain.nic().gids().get(to.sourceGidIndex());
        engineSide.connect(local, to.destination());
        engineSide.protocol().route(domain.nic().path(to));
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
        events.publish(type);
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the queue pair is closed");
        }
    }

    // ---------------------------------------------------------------- posting

    @Override
    public void postSend(SendWorkRequest request) throws RdmaException {
        posting.post(request, MemoryWindowType.TYPE_2);
        ringSend();
    }

    @Override
    public void postSend(List<SendWorkRequest> requests) throws RdmaException {
        try {
            posting.post(requests);
        } finally {
            ringSend();
        }
    }

    /** Tells the engine that sends were posted. */
    void ringSend() {
        driver.ring(engineSide, EngineQueuePair.SEND_BELL);
    }

    @Override
    public ExtendedQueuePair extended() {
        if (batch == null) {
            throw new IllegalStateException("the queue pair was created without sendOperations,"
                    + " which say what is posted piece by piece");
        }
        return batch;
    }

    /** {@return whether the calling thread is posting piece by piece} */
    boolean isInBatch() {
        return batch != null && batch.isInBatch();
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
        if (plan.sharedReceives() != null) {
            throw new RdmaException(Errno.EINVAL, "post receive",
                    "the queue pair draws from a shared receive queue: post there");
        }
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

    // ---------------------------------------------------------------- memory windows

    @Override
    public void bindMemoryWindow(MemoryWindow window, long requestId, MemoryWindowBind bind,
            boolean signaled) throws RdmaException {
        String operation = "bind memory window";
        if (!(window instanceof SoftMemoryWindow own) || own.type() != MemoryWindowType.TYPE_1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "only a window of type 1 of this device is bound here, not " + window.type());
        }
        if (!own.owner().root().equals(domain.root())
                || !(bind.region() instanceof SoftMemoryRegion region)
                || !region.owner().root().equals(domain.root())) {
            throw new RdmaException(Errno.EPERM, operation,
                    "window, region and queue pair are not of one protection domain");
        }
        own.checkOpen();
        int newRkey = MemoryWindow.nextRkey(own.rkey());
        posting.post(new SendWorkRequest().id(requestId).bind(own, newRkey, bind)
                .set(SendFlag.SIGNALED, signaled), MemoryWindowType.TYPE_1);
        own.announce(newRkey);
        ringSend();
    }

    @Override
    public WorkCompletionStatus carryOut(SendRequest request) {
        if (request.opcode() == SendOpcode.LOCAL_INVALIDATE) {
            return invalidate(request.invalidateRkey())
                    ? WorkCompletionStatus.SUCCESS
                    : WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR;
        }
        MemoryWindowBind bind = request.windowBind();
        return request.window() instanceof SoftMemoryWindow window && bind != null
                ? window.bind(this, request.windowRkey(), bind)
                : WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
    }

    @Override
    public boolean invalidate(int rkey) {
        SoftMemoryWindow window = domain.nic().window(rkey);
        if (window == null || !window.isBoundTo(this, rkey)) {
            return false;
        }
        window.invalidate();
        return true;
    }

    // ---------------------------------------------------------------- multicast

    @Override
    public void attachMulticast(Gid group) throws RdmaException {
        checkGroup("attach to multicast group", group);
        driver.call(nowNs -> {
            checkOpen();
            if (groups.contains(group)) {
                return this;
            }
            Limits.checkRange("attach to multicast group", "groups of one queue pair",
                    groups.size() + 1L, 1, Limits.GROUP_MEMBERS);
            domain.nic().join(group, engineSide, plan.isDeafToItself());
            groups.add(group);
            return this;
        });
    }

    @Override
    public void detachMulticast(Gid group) throws RdmaException {
        String operation = "detach from multicast group";
        checkGroup(operation, group);
        driver.call(nowNs -> {
            checkOpen();
            if (!groups.remove(group)) {
                throw new RdmaException(Errno.EINVAL, operation,
                        "the queue pair is not attached to " + group.addressText());
            }
            domain.nic().leave(group, engineSide);
            return this;
        });
    }

    private void checkGroup(String operation, Gid group) throws RdmaException {
        if (type() != QueuePairType.UD) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "only UD queue pairs can be attached, not " + type());
        }
        if (!group.isMulticast()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    group.addressText() + " is no multicast address");
        }
    }

    // ---------------------------------------------------------------- what else it knows

    @Override
    public boolean isDataInOrder(SendOpcode opcode) {
        // An IP network reorders, and packets of a WRITE are placed as they come.
        return false;
    }

    @Override
    public void enhancedConnectionOptions(EnhancedConnectionOptions options)
            throws RdmaException {
        if (!options.equals(EnhancedConnectionOptions.NONE)) {
            throw RdmaException.unsupported("set enhanced connection options",
                    "this device has none to agree on");
        }
    }

    @Override
    public EnhancedConnectionOptions enhancedConnectionOptions() {
        return EnhancedConnectionOptions.NONE;
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() throws RdmaException {
        driver.call(nowNs -> {
            if (isClosed) {
                return this;
            }
            if (!groups.isEmpty()) {
                throw new RdmaException(Errno.EBUSY, "close queue pair", "it is attached to "
                        + groups.size() + " multicast group(s); detach it first");
            }
            events.requireAcknowledged("close queue pair");
            isClosed = true;
            events.discard();
            driver.engine().detach(engineSide);
            domain.nic().queuePairs().remove(this);
            domain.nic().forgetBinds(this);
            plan.sendQueue().detach(engineSide);
            plan.receiveQueue().detach(engineSide);
            SoftSharedReceiveQueue shared = plan.sharedReceives();
            if (shared != null) {
                shared.detach(engineSide);
            }
            if (inlineMemory != null) {
                // A thread may be gathering inline data this moment.
                posting.ring().whenIdle(inlineMemory::free);
            }
            domain.children().remove("queue pair");
            domain.nic().totals().remove("queue pair");
            return this;
        });
    }
}
