// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.device.AsyncEventTarget;
import io.rdma4j.ibverbs.device.AwaitedQueuePair;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.KernelStateTarget;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.work.OutstandingWork;
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
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
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

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;

/**
 * A queue pair. Posting takes one lock for sends and another for receives, and closing takes both, so that no call uses the
 * library's object while it is freed. These locks are taken before the context's: a thread that posts may have to free a
 * region, and a thread in a batch may make any other call.
 */
public final class NativeQueuePair
        implements
            AwaitedQueuePair,
            QueuePair,
            QueuePairServices,
            AsyncEventTarget,
            KernelStateTarget {
    private final DomainServices domain;
    private final ContextServices services;
    private final QueuePairInitAttributes initial;
    private final NativeCompletionQueue sendCompletions;
    private final @Nullable NativeCompletionQueue receiveCompletions;
    private final @Nullable NativeSharedReceiveQueue shared;
    private final QueuePairCapabilities sizes;
    private final QueuePairControl control;
    private final Arena arena = Arena.ofShared();
    private final NativeSendQueue sendQueue;
    private final NativeReceiveQueue receiveQueue;
    private final AsyncEventSource events;
    private final GroupAttachments groups;
    private final FlowAttachments flows;

    /** Under the context's lock. */
    public NativeQueuePair(DomainServices domain, QueuePairInitAttributes wanted)
            throws RdmaException {
        this.domain = domain;
        services = domain.owner();
        QueuePairCreation made = QueuePairCreation.make(domain, wanted);
        initial = made.initial();
        sizes = initial.capabilities();
        sendCompletions = made.sends();
        receiveCompletions = made.receives();
        shared = made.shared();
        control = new QueuePairControl(services, made.pointer(), wanted.type(), this::onState);
        boolean isMade = false;
        try {
            events = services.events().newSource(this);
            groups = new GroupAttachments(this, services);
            flows = new FlowAttachments(this, services);
            sendQueue = new NativeSendQueue(this, arena, made.offered(), wanted.sendOperations(),
                    made.extended());
            receiveQueue = new NativeReceiveQueue(this, arena, receiveCompletions != null,
                    shared != null);
            isMade = true;
        } finally {
            if (!isMade) {
                control.abandon();
                arena.close();
            }
        }
        domain.children().add(ObjectKind.QUEUE_PAIR);
        sendCompletions.children().add(ObjectKind.QUEUE_PAIR);
        services.owned().add(ObjectKind.QUEUE_PAIR, this);
        if (receiveCompletions != null) {
            receiveCompletions.children().add(ObjectKind.QUEUE_PAIR);
        }
        if (shared != null) {
            shared.children().add(ObjectKind.QUEUE_PAIR);
        }
        services.events().queuePairs().put(made.pointer(), this);
        services.events().add(this);
    }

    @Override
    public QueuePair queuePair() {
        return this;
    }

    @Override
    public long pointer() {
        return control.pointer();
    }

    @Override
    public DomainServices owner() {
        return domain;
    }

    @Override
    public void checkOpen() throws RdmaException {
        control.checkOpen();
    }

    /** {@return the Q_Key it was given, 0 before} */
    @Override
    public int qkey() {
        return control.qkey();
    }

    /** {@return the port it was given, 1 before} */
    @Override
    public int port() {
        return control.port();
    }

    /** {@return the longest message that it can send by its port, as that is now} */
    @Override
    public long longestMessage() throws RdmaException {
        return services.queries().longestMessage(type(), control.port());
    }

    @Override
    public boolean isReset() {
        return control.state() == QueuePairState.RESET;
    }

    /** {@return whether every send completes in the completion queue} */
    @Override
    public boolean isAllSignaled() {
        return initial.signalAll();
    }

    /** {@return whether the driver would lose requests that are posted now, so that they must be flushed here} */
    @Override
    public boolean isTooLate() {
        return control.isTooLate();
    }

    /** {@return whether the driver may have lost requests that the calling thread has just accepted ({@code WorkLedger.accept})} */
    @Override
    public boolean isLostMeanwhile() {
        return control.isLostMeanwhile();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    @Override
    public int number() {
        return control.number();
    }

    @Override
    public QueuePairType type() {
        return initial.type();
    }

    @Override
    public CompletionQueue sendCompletionQueue() {
        return sendCompletions;
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        if (receiveCompletions == null) {
            throw new IllegalStateException("a queue pair of type " + type() + " receives nothing,"
                    + " so it has no completion queue for it");
        }
        return receiveCompletions;
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return shared;
    }

    @Override
    public @Nullable Object userContext() {
        return initial.userContext();
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return sizes;
    }

    @Override
    public QueuePairInitAttributes initAttributes() {
        return new QueuePairInitAttributes(initial);
    }

    @Override
    public @Nullable String sendRefusal() throws RdmaException {
        checkOpen();
        return null;
    }

    @Override
    public Map<String, Long> counters() {
        // Drivers count for a port, not for a queue pair.
        return Map.of();
    }

    // ---------------------------------------------------------------- state

    @Override
    public QueuePairState state() {
        return control.flushedState();
    }

    @Override
    public void modify(QueuePairAttributes attributes) throws RdmaException {
        if (!attributes.isSet(QueuePairAttribute.STATE)
                || attributes.state() != QueuePairState.RESET) {
            change(attributes);
            return;
        }
        // Locked: otherwise requests that are being posted would count as outstanding for ever.
        sendQueue.lock().lock();
        receiveQueue.lock().lock();
        try {
            change(attributes);
        } finally {
            receiveQueue.lock().unlock();
            sendQueue.lock().unlock();
        }
    }

    private void change(QueuePairAttributes attributes) throws RdmaException {
        services.lock();
        lockCompletions();
        try {
            control.modify(attributes);
        } finally {
            unlockCompletions();
            services.unlock();
        }
    }

    /** Keeps threads that poll from the driver's queues while it cleans them. Under the context's lock, which orders the two. */
    private void lockCompletions() {
        sendCompletions.driverLock().lock();
        if (receiveCompletions != null) {
            receiveCompletions.driverLock().lock();
        }
    }

    private void unlockCompletions() {
        if (receiveCompletions != null) {
            receiveCompletions.driverLock().unlock();
        }
        sendCompletions.driverLock().unlock();
    }

    @Override
    public QueuePairAttributes query() throws RdmaException {
        return control.query().capabilities(sizes);
    }

    /** The kernel has moved it, as it connected or ended it. */
    @Override
    public void onKernelState(QueuePairState next) {
        control.onKernelState(next);
    }

    private void onState(QueuePairState next) {
        if (next == QueuePairState.RESET) {
            sendQueue.work().clear();
            receiveQueue.work().clear();
        }
        if (isTooLate()) {
            flushSends(0);
            flushReceives(0);
        }
        if (next == QueuePairState.RESET || next == QueuePairState.ERR) {
            alertWaiters();
        }
    }

    private void alertWaiters() {
        sendCompletions.waiters().onEnd();
        if (receiveCompletions != null) {
            receiveCompletions.waiters().onEnd();
        }
    }

    @Override
    public @Nullable Errno ended(boolean ofReceives) throws RdmaException {
        if (control.isClosed()) {
            return Errno.EBADF;
        }
        QueuePairState now = query().state();
        if (now != QueuePairState.ERR && now != QueuePairState.RESET) {
            return null;
        }
        if (isTooLate()) {
            // The completion queue has all flushed requests, of the driver (settle) and of this library (onState).
            return Errno.ENOTCONN;
        }
        OutstandingWork work = ofReceives ? receiveQueue.work() : sendQueue.work();
        return work.isOutstanding() ? null : Errno.ENOTCONN;
    }

    /**
     * {@inheritDoc} Not known of completion queues that others use, and of shared receive queues.
     */
    @Override
    public Outstanding outstanding(boolean ofReceives) throws RdmaException {
        NativeCompletionQueue queue = ofReceives ? receiveCompletions : sendCompletions;
        if (control.isClosed() || queue == null || queue.children().total() != 1
                || (ofReceives && shared != null)) {
            return Outstanding.COMPLETING;
        }
        Outstanding known = (ofReceives ? receiveQueue.work() : sendQueue.work()).outstanding();
        // What is flushed completes, signaled or not.
        return known == Outstanding.UNSIGNALED && query().state() != QueuePairState.RTS
                ? Outstanding.COMPLETING
                : known;
    }

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        control.onAsyncEvent(type);
        switch (type) {
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR -> alertWaiters();
            default -> {
                // It continues.
            }
        }
        events.publish(type, 0);
    }

    // ---------------------------------------------------------------- posting

    @Override
    public void postSend(SendWorkRequest request) throws RdmaException {
        sendQueue.post(request);
    }

    @Override
    public void postSend(List<SendWorkRequest> requests) throws RdmaException {
        sendQueue.post(requests);
    }

    @Override
    public SendBatch startBatch() throws RdmaException {
        return sendQueue.startBatch();
    }

    @Override
    public void bindMemoryWindow(long requestId, MemoryWindow window, MemoryWindowBind bind,
            SendFlag... flags) throws RdmaException {
        sendQueue.bindMemoryWindow(requestId, window, bind, flags);
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) throws RdmaException {
        receiveQueue.post(request);
    }

    @Override
    public void postReceive(List<ReceiveWorkRequest> requests) throws RdmaException {
        receiveQueue.post(requests);
    }

    /**
     * Completes sends as flushed that the driver has lost.
     *
     * @param late how many, the last ones, it was not given
     */
    @Override
    public void flushSends(int late) {
        sendCompletions.flush(sendQueue.lost(late));
    }

    /** The same for receives. */
    @Override
    public void flushReceives(int late) {
        if (receiveCompletions != null) {
            receiveCompletions.flush(receiveQueue.lost(late));
        }
    }

    // ---------------------------------------------------------------- multicast

    @Override
    public void attachMulticast(Gid group) throws RdmaException {
        groups.attach(group);
    }

    @Override
    public void attachMulticast(Gid group, int lid) throws RdmaException {
        groups.attach(group, lid);
    }

    @Override
    public void detachMulticast(Gid group) throws RdmaException {
        groups.detach(group);
    }

    @Override
    public Flow attachFlow(FlowRule rule) throws RdmaException {
        return flows.attach(rule);
    }

    // ---------------------------------------------------------------- what else it knows

    @Override
    public boolean isDataInOrder(SendOpcode opcode) throws RdmaException {
        return control.isDataInOrder(opcode);
    }

    @Override
    public void enhancedConnectionOptions(EnhancedConnectionOptions options)
            throws RdmaException {
        control.enhancedConnectionOptions(options);
    }

    @Override
    public EnhancedConnectionOptions enhancedConnectionOptions() throws RdmaException {
        return control.enhancedConnectionOptions();
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() throws RdmaException {
        String operation = "close queue pair";
        sendQueue.lock().lock();
        receiveQueue.lock().lock();
        services.lock();
        try {
            if (control.isClosed()) {
                return;
            }
            sendQueue.requireNoBatch();
            groups.requireNone(operation);
            flows.requireNone(operation);
            events.end(operation);
            lockCompletions();
            try {
                control.destroy(operation);
            } finally {
                unlockCompletions();
            }
            services.events().queuePairs().remove(control.pointer());
            services.events().forget(this);
            sendCompletions.forget(number());
            if (receiveCompletions != null) {
                receiveCompletions.forget(number());
            }
            sendQueue.forget();
            receiveQueue.forget();
            arena.close();
            domain.children().remove(ObjectKind.QUEUE_PAIR);
            sendCompletions.children().remove(ObjectKind.QUEUE_PAIR);
            services.owned().remove(ObjectKind.QUEUE_PAIR, this);
            if (receiveCompletions != null) {
                receiveCompletions.children().remove(ObjectKind.QUEUE_PAIR);
            }
            if (shared != null) {
                shared.children().remove(ObjectKind.QUEUE_PAIR);
            }
        } finally {
            services.unlock();
            receiveQueue.lock().unlock();
            sendQueue.lock().unlock();
        }
        alertWaiters();
    }

    @Override
    public String toString() {
        return ResourceText.of(this, services.context());
    }
}
