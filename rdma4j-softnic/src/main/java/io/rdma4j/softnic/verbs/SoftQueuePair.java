// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.device.WindowBindFlags;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Flow;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A queue pair: checks requests of applications, keeps its queues, and leaves the protocol to the engine.
 */
public final class SoftQueuePair implements ListedQueuePair, EngineQueuePair.Listener {
    private final SoftDomainServices domain;
    private final SoftQueuePairServices services;
    private final QueuePairSpec spec;
    private final EngineDriver driver;
    private final SendPosting posting;
    private final ReceivePosting receivePosting;
    private final EngineQueuePair engineSide;
    private final SendRing sendRing;
    private final ReceiveRing receiveRing;
    private final GroupMemberships groups;
    private final AsyncEventSource events;
    private final @Nullable QueueMemory inlineMemory;
    private final @Nullable SoftSendBatch batch;
    private QueuePairAttributes known = new QueuePairAttributes();
    private volatile @Nullable Gid peer;
    private volatile int peerNumber;

    /** For the engine's owner. */
    SoftQueuePair(SoftDomainServices domain, QueuePairSpec spec, int number) {
        this.domain = domain;
        this.spec = spec;
        driver = domain.nic().driver();
        QueuePairCapabilities sizes = spec.capabilities();
        int inlineSize = spec.inlineSize();
        long inlineBytes = SendRing.inlineMemoryFor(sizes.maxSendRequests(), inlineSize);
        inlineMemory = inlineBytes == 0 ? null : domain.allocate(inlineBytes);
        sendRing = new SendRing(sizes.maxSendRequests(), sizes.maxSendElements(),
                inlineSize, inlineMemory == null ? null : inlineMemory.memory());
        sendRing.growWith(domain.nic().objects().grownRings());
        receiveRing = new ReceiveRing(sizes.maxReceiveRequests(),
                sizes.maxReceiveElements());
        events = domain.owner().newSource(this);
        SoftSharedReceiveQueue shared = spec.sharedReceives();
        ReceiveQueue receives = shared == null ? receiveRing : shared.view();
        engineSide = domain.nic().transport().newQueuePair(spec.type(), number,
                new QueuePairQueues(sendRing, receives, spec.sendQueue().ring(),
                        spec.receiveQueue().ring()),
                domain.engineMemoryOf(number), this);
        if (spec.answerFirst()) {
            engineSide.answerFirst();
        }
        services = new SoftQueuePairServices(this, domain, engineSide, spec.type(),
                spec.offered());
        posting = new SendPosting(services, sendRing, domain.memoryOf(number), spec);
        Set<SendOpcode> operations = spec.sendOperations();
        batch = operations == null ? null : new SoftSendBatch(services, posting, operations);
        receivePosting = new ReceivePosting(services, receiveRing, spec);
        groups = new GroupMemberships(services, spec.blocksMulticastLoopback());
        driver.engine().attach(engineSide);
        domain.nic().objects().queuePairs().add(this);
        domain.owner().queuePairs().put(number, this);
        spec.sendQueue().attach(engineSide);
        spec.receiveQueue().attach(engineSide);
        if (shared != null) {
            shared.attach(engineSide);
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    @Override
    public int number() {
        return engineSide.number();
    }

    @Override
    public QueuePairType type() {
        return spec.type();
    }

    @Override
    public QueuePairState state() {
        if (services.isClosed()) {
            throw new IllegalStateException("the queue pair is closed");
        }
        return services.state();
    }

    @Override
    public QueuePairState lastState() {
        return services.state();
    }

    @Override
    public CompletionQueue sendCompletionQueue() {
        return spec.sendQueue();
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return spec.receiveQueue();
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return spec.sharedReceives();
    }

    @Override
    public @Nullable Object userContext() {
        return spec.userContext();
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return spec.capabilities();
    }

    @Override
    public QueuePairInitAttributes initAttributes() {
        return spec.initAttributes();
    }

    @Override
    public Map<String, Long> counters() {
        return engineSide.counters().byName(domain.nic().transport().counters(type()));
    }

    // ---------------------------------------------------------------- state

    @Override
    public void modify(QueuePairAttributes attributes) throws RdmaException {
        driver.call(nowNs -> {
            services.checkOpen();
            QueuePairState next = domain.nic().transport().transitions().check(type(),
                    services.state(),
                    attributes);
            if (!carriesNothingOut(next)) {
                domain.owner().requireWorking("modify queue pair");
            }
            ModifyChecks.check(domain.nic(), attributes);
            if (next == QueuePairState.RESET) {
                known = new QueuePairAttributes();
                domain.nic().memory().forgetBindsOf(number());
            } else {
                known.merge(attributes);
            }
            noticePeer();
            engineSide.modify(attributes, next, nowNs);
            if (next == QueuePairState.RESET) {
                removeCompletions();
            }
            onState(engineSide.protocol().state());
            engineSide.moved(services.state(), "MODIFY");
            driver.engine().touched(engineSide);
            return this;
        });
    }

    /** No completion of one life is seen in the next, or after the last. */
    private void removeCompletions() {
        spec.sendQueue().ring().remove(number());
        if (!spec.receiveQueue().equals(spec.sendQueue())) {
            spec.receiveQueue().ring().remove(number());
        }
    }

    /** Publishes the peer of {@code known} for any thread. */
    private void noticePeer() {
        peer = known.isSet(QueuePairAttribute.ADDRESS_VECTOR)
                ? known.addressVector().destination()
                : null;
        peerNumber = known.isSet(QueuePairAttribute.DESTINATION_QUEUE_PAIR)
                ? known.destinationQueuePairNumber()
                : 0;
    }

    @Override
    public @Nullable Gid peer() {
        Gid connected = engineSide.peer();
        return connected == null ? peer : connected;
    }

    @Override
    public int peerNumber() {
        return peerNumber;
    }

    @Override
    public String way() {
        return engineSide.way();
    }

    @Override
    public QueuePairAttributes query() throws RdmaException {
        return driver.call(nowNs -> {
            services.checkOpen();
            QueuePairState state = services.state();
            QueuePairAttributes result = new QueuePairAttributes().merge(known).state(state)
                    .currentState(state).capabilities(capabilities());
            engineSide.protocol().query(result);
            return result;
        });
    }

    @Override
    public @Nullable String sendRefusal() throws RdmaException {
        return driver.call(nowNs -> {
            services.checkOpen();
            return Optional.ofNullable(engineSide.sendRefusal());
        }).orElse(null);
    }

    @Override
    public void onState(QueuePairState newState) {
        services.onState(newState);
        posting.onState(newState);
        if (carriesNothingOut(newState)) {
            alertWaiters();
        }
    }

    private static boolean carriesNothingOut(QueuePairState state) {
        return state == QueuePairState.ERR || state == QueuePairState.RESET;
    }

    /** Wakes threads that wait for completions, to check whether one can still come. */
    private void alertWaiters() {
        spec.sendQueue().waiters().onEnd();
        spec.receiveQueue().waiters().onEnd();
    }

    /** {@return why no send or receive can complete any more, null if one can} As {@code CmContext.ended}. */
    @Nullable
    Errno ended(boolean ofReceives) throws RdmaException {
        if (!services.isClosed() && !carriesNothingOut(services.state())) {
            return null;
        }
        // The queue pair fails and its outstanding work is flushed in one task of the engine's owner.
        if (!services.isClosed() && driver.call(nowNs -> canComplete(ofReceives))) {
            return null;
        }
        if (services.isClosed()) {
            return Errno.EBADF;
        }
        return domain.nic().port().isGone() ? Errno.ENODEV : Errno.ENOTCONN;
    }

    /** {@return what is outstanding of the requests that complete into one of its queues} {@code CmContext.outstanding}. */
    Outstanding outstanding(boolean ofReceives) throws RdmaException {
        SoftCompletionQueue queue = ofReceives ? spec.receiveQueue() : spec.sendQueue();
        // Without the engine first: while a request is carried out, others may have the engine.
        if (outstandingIn(queue) == Outstanding.COMPLETING) {
            return Outstanding.COMPLETING;
        }
        // Between two tasks of the engine's owner a request is either outstanding or its completion is in the queue.
        return driver.call(nowNs -> {
            Outstanding most = Outstanding.NOTHING;
            for (ListedQueuePair each : domain.nic().objects().queuePairs()) {
                Outstanding its = each.outstandingIn(queue);
                most = its.compareTo(most) > 0 ? its : most;
            }
            return most;
        });
    }

    @Override
    public Outstanding outstandingIn(CompletionQueue queue) {
        if (spec.receiveQueue().equals(queue)
                && (receiveRing.isOutstanding() || isFilledByOthers())) {
            return Outstanding.COMPLETING;
        }
        if (!spec.sendQueue().equals(queue) || !sendRing.isOutstanding()) {
            return Outstanding.NOTHING;
        }
        QueuePairState state = services.state();
        // What is flushed completes, signaled or not.
        return sendRing.isSignaledOutstanding() || carriesNothingOut(state)
                || state == QueuePairState.SQE
                        ? Outstanding.COMPLETING
                        : Outstanding.UNSIGNALED;
    }

    /** {@return whether its receives are those of a shared queue} They may be another queue pair's, and taken already. */
    private boolean isFilledByOthers() {
        return spec.sharedReceives() != null;
    }

    private boolean canComplete(boolean ofReceives) {
        return !carriesNothingOut(services.state())
                || (ofReceives ? receiveRing.isOutstanding() : sendRing.isOutstanding());
    }

    @Override
    public void onMoved(QueuePairState from, QueuePairState to, String cause) {
        FlightEvents.queuePairState(domain.nic().device().name(), number(), from, to, cause);
    }

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        events.publish(type, 0);
    }

    // ---------------------------------------------------------------- posting

    @Override
    public void postSend(SendWorkRequest request) throws RdmaException {
        posting.post(request, MemoryWindowType.TYPE_2);
        driver.ring(engineSide, EngineQueuePair.SEND_DOORBELL);
    }

    @Override
    public void postSend(List<SendWorkRequest> requests) throws RdmaException {
        try {
            posting.post(requests);
        } finally {
            services.ringForList();
        }
    }

    @Override
    public SendBatch startBatch() throws RdmaException {
        services.checkOpen();
        SoftSendBatch present = batch;
        if (present == null) {
            throw new IllegalStateException("the queue pair was created without sendOperations,"
                    + " which say what is posted in batches");
        }
        present.start();
        return present;
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) throws RdmaException {
        receivePosting.post(request);
    }

    @Override
    public void postReceive(List<ReceiveWorkRequest> requests) throws RdmaException {
        receivePosting.post(requests);
    }

    // ---------------------------------------------------------------- memory windows

    @Override
    public void bindMemoryWindow(long requestId, MemoryWindow window, MemoryWindowBind bind,
            SendFlag... flags) throws RdmaException {
        services.checkOpen();
        int bits = WindowBindFlags.bits(flags);
        SoftMemoryWindow own = PostChecks.checkBindOfTypeOne(window, bind, domain);
        posting.postBind(own, newRkey -> new SendWorkRequest().id(requestId)
                .bind(own, newRkey, bind).flags(bits));
        services.ringSend();
    }

    // ---------------------------------------------------------------- flushing

    @Override
    public boolean flush(MemorySegment memory, long offset, long length, long ticket) {
        return domain.nic().flusher().flush(memory, offset, length, outcome -> {
            if (!services.isClosed()) {
                driver.run(nowNs -> engineSide.onFlushed(ticket, outcome));
            }
        });
    }

    // ---------------------------------------------------------------- multicast

    @Override
    public void attachMulticast(Gid group) throws RdmaException {
        groups.attach(group);
    }

    @Override
    public void detachMulticast(Gid group) throws RdmaException {
        groups.detach(group);
    }

    @Override
    public Flow attachFlow(FlowRule rule) throws RdmaException {
        services.checkOpen();
        return ListedQueuePair.super.attachFlow(rule);
    }

    // ---------------------------------------------------------------- what else it knows

    @Override
    public boolean isDataInOrder(SendOpcode opcode) throws RdmaException {
        services.checkOpen();
        // Packets are placed in order, but the bytes of one are copied in any order, also as another processor sees them.
        return false;
    }

    @Override
    public void enhancedConnectionOptions(EnhancedConnectionOptions options)
            throws RdmaException {
        services.checkOpen();
        if (!options.equals(EnhancedConnectionOptions.NONE)) {
            throw RdmaException.unsupported("set enhanced connection options",
                    "this device has none to agree on");
        }
    }

    @Override
    public EnhancedConnectionOptions enhancedConnectionOptions() throws RdmaException {
        services.checkOpen();
        return EnhancedConnectionOptions.NONE;
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() throws RdmaException {
        driver.call(nowNs -> {
            if (services.isClosed()) {
                return this;
            }
            groups.requireNone("close queue pair");
            events.end("close queue pair");
            services.onClosed();
            posting.onState(services.state());
            sendRing.onClosed();
            driver.engine().detach(engineSide);
            removeCompletions();
            domain.nic().objects().queuePairs().remove(this);
            domain.owner().queuePairs().remove(number());
            alertWaiters();
            domain.nic().memory().forgetBindsOf(number());
            spec.sendQueue().detach(engineSide);
            spec.receiveQueue().detach(engineSide);
            SoftSharedReceiveQueue shared = spec.sharedReceives();
            if (shared != null) {
                shared.detach(engineSide);
            }
            // A thread may be gathering inline data at this moment.
            sendRing.whenIdle(this::freeSendRing);
            domain.remove(ObjectKind.QUEUE_PAIR, ObjectKind.QUEUE_PAIR, this);
            return this;
        });
    }

    private void freeSendRing() {
        sendRing.close();
        if (inlineMemory != null) {
            inlineMemory.free();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this, domain.owner().context());
    }
}
