// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.xrc;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.PostRules;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairOpenAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.device.AsyncEventTarget;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.queue.QueuePairControl;
import io.rdma4j.ibverbs.queue.XrcDomainServices;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Flow;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
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
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/**
 * The receiving side of an extended reliable connection: messages go to the shared receive queue that the peer names.
 * It has no requests and no completions of its own, so it has states and attributes, but no queues.
 */
public final class XrcReceiveQueuePair implements QueuePair, AsyncEventTarget {
    private static final String CREATE = "create queue pair";
    private static final String OPEN = "open queue pair";
    private static final int XRCD_MASK = 1 << 1;
    /** Of {@code enum ibv_qp_open_attr_mask}: number, domain, type. */
    private static final int OPEN_MASK = 1 | 1 << 1 | 1 << 3;
    private static final QueuePairCapabilities NO_QUEUES = new QueuePairCapabilities(0, 0, 0, 0,
            0);

    private final XrcDomainServices domain;
    private final ContextServices services;
    private final @Nullable Object userContext;
    private final QueuePairControl control;
    private final AsyncEventSource events;

    private XrcReceiveQueuePair(XrcDomainServices domain, @Nullable Object userContext,
            long pointer) {
        this.domain = domain;
        this.userContext = userContext;
        services = domain.owner();
        control = new QueuePairControl(services, pointer, QueuePairType.XRC_RECEIVE, state -> {
            // No thread waits for its completions.
        });
        events = services.events().newSource(this);
        domain.children().add(ObjectKind.QUEUE_PAIR);
        services.owned().add(ObjectKind.QUEUE_PAIR, this);
        services.events().queuePairs().put(pointer, this);
        services.events().add(this);
    }

    /** Creates one, under the context's lock. */
    public static XrcReceiveQueuePair create(XrcDomainServices domain,
            QueuePairInitAttributes wanted)
            throws RdmaException {
        check(wanted);
        ContextServices services = domain.owner();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena
                    .allocate(QueuePairInitAttr.EXTENDED_SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, QueuePairInitAttr.QP_TYPE,
                    QueuePairType.XRC_RECEIVE.code());
            Native.putInt(attributes, QueuePairInitAttr.COMP_MASK, XRCD_MASK);
            Native.putLong(attributes, QueuePairInitAttr.XRCD, domain.pointer());
            long pointer = services.functions().require(ContextOperation.CREATE_QP_EX, CREATE)
                    .call(services.pointer(), attributes.address())
                    .pointer(CREATE, "the device refused another queue pair of type XRC_RECEIVE;"
                            + " ibv_devinfo -v shows its max_qp");
            return new XrcReceiveQueuePair(domain, wanted.userContext(), pointer);
        }
    }

    private static void check(QueuePairInitAttributes wanted) throws RdmaException {
        if (wanted.type() != QueuePairType.XRC_RECEIVE) {
            throw new RdmaException(Errno.EINVAL, CREATE, "an XRC domain makes queue pairs of type"
                    + " XRC_RECEIVE, not " + wanted.type()
                    + "; ProtectionDomain.createQueuePair makes others");
        }
        if (wanted.sendCompletionQueue() != null || wanted.receiveCompletionQueue() != null
                || wanted.sharedReceiveQueue() != null || wanted.sendOperations() != null) {
            throw new RdmaException(Errno.EINVAL, CREATE, "a queue pair of type XRC_RECEIVE has no"
                    + " completion queues, shared receive queue or operations of its own: the peer"
                    + " names the shared receive queue of each message");
        }
    }

    /** Opens an existing queue pair, under the context's lock. */
    public static XrcReceiveQueuePair open(XrcDomainServices domain, int number,
            @Nullable Object userContext) throws RdmaException {
        ContextServices services = domain.owner();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairOpenAttr.SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, QueuePairOpenAttr.COMP_MASK, OPEN_MASK);
            Native.putInt(attributes, QueuePairOpenAttr.QP_NUM, number);
            Native.putLong(attributes, QueuePairOpenAttr.XRCD, domain.pointer());
            Native.putInt(attributes, QueuePairOpenAttr.QP_TYPE,
                    QueuePairType.XRC_RECEIVE.code());
            long pointer = services.functions().require(ContextOperation.OPEN_QP, OPEN)
                    .call(services.pointer(), attributes.address()).pointer(OPEN,
                            "the domain has no queue pair of type XRC_RECEIVE and number "
                                    + number);
            XrcReceiveQueuePair opened = new XrcReceiveQueuePair(domain, userContext, pointer);
            opened.learnState();
            return opened;
        }
    }

    /** Queries the state, which its creator may have changed since. */
    private void learnState() throws RdmaException {
        boolean isKnown = false;
        try {
            control.query();
            isKnown = true;
        } finally {
            if (!isKnown) {
                events.abandon();
                free(OPEN);
            }
        }
    }

    private static IllegalStateException has(String none) {
        return new IllegalStateException(
                "a queue pair of type XRC_RECEIVE has " + none + ": nothing is posted to it");
    }

    private static RdmaException isPostedNothing(String operation) {
        return new RdmaException(Errno.EINVAL, operation, "a queue pair of type XRC_RECEIVE is"
                + " posted nothing; receives go to a shared receive queue of type XRC, and sends to"
                + " a queue pair of type XRC_SEND");
    }

    // ---------------------------------------------------------------- what it is

    @Override
    public ProtectionDomain protectionDomain() {
        throw new IllegalStateException("a queue pair of type XRC_RECEIVE has no protection domain:"
                + " the shared receive queues of its XRC domain have");
    }

    @Override
    public XrcDomain xrcDomain() {
        return domain.domain();
    }

    @Override
    public int number() {
        return control.number();
    }

    @Override
    public QueuePairType type() {
        return QueuePairType.XRC_RECEIVE;
    }

    @Override
    public CompletionQueue sendCompletionQueue() {
        throw has("no completion queue for sends");
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        throw has("no completion queue for receives");
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return null;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return NO_QUEUES;
    }

    @Override
    public QueuePairInitAttributes initAttributes() {
        return new QueuePairInitAttributes().type(QueuePairType.XRC_RECEIVE)
                .capabilities(NO_QUEUES).userContext(userContext);
    }

    @Override
    public @Nullable String sendRefusal() throws RdmaException {
        control.checkOpen();
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
        control.modify(attributes);
    }

    @Override
    public QueuePairAttributes query() throws RdmaException {
        return control.query().capabilities(NO_QUEUES);
    }

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

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        control.onAsyncEvent(type);
        events.publish(type, 0);
    }

    // ---------------------------------------------------------------- what it does not do

    @Override
    public void postSend(SendWorkRequest request) throws RdmaException {
        control.checkOpen();
        throw isPostedNothing(PostRules.SEND);
    }

    @Override
    public void postSend(List<SendWorkRequest> requests) throws RdmaException {
        control.checkOpen();
        if (!requests.isEmpty()) {
            throw new PostException(PostRules.SEND,
                    isPostedNothing(PostRules.SEND), 0);
        }
    }

    @Override
    public SendBatch startBatch() throws RdmaException {
        control.checkOpen();
        throw has("no send queue");
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) throws RdmaException {
        control.checkOpen();
        throw isPostedNothing(PostRules.RECEIVE);
    }

    @Override
    public void postReceive(List<ReceiveWorkRequest> requests) throws RdmaException {
        control.checkOpen();
        if (!requests.isEmpty()) {
            throw new PostException(PostRules.RECEIVE,
                    isPostedNothing(PostRules.RECEIVE), 0);
        }
    }

    @Override
    public void bindMemoryWindow(long requestId, MemoryWindow window, MemoryWindowBind bind,
            SendFlag... flags) throws RdmaException {
        control.checkOpen();
        throw isPostedNothing("bind memory window");
    }

    @Override
    public void attachMulticast(Gid group) throws RdmaException {
        control.checkOpen();
        throw ofDatagrams("attach multicast");
    }

    @Override
    public void detachMulticast(Gid group) throws RdmaException {
        control.checkOpen();
        throw ofDatagrams("detach multicast");
    }

    private static RdmaException ofDatagrams(String operation) {
        return new RdmaException(Errno.EINVAL, operation,
                "groups are for queue pairs of type UD, not XRC_RECEIVE");
    }

    @Override
    public Flow attachFlow(FlowRule rule) throws RdmaException {
        control.checkOpen();
        throw new RdmaException(Errno.EINVAL, "attach flow",
                "flows are for queue pairs of type RAW_PACKET or UD, not XRC_RECEIVE");
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() throws RdmaException {
        String operation = "close queue pair";
        services.lock();
        try {
            if (control.isClosed()) {
                return;
            }
            events.end(operation);
            free(operation);
        } finally {
            services.unlock();
        }
    }

    private void free(String operation) throws RdmaException {
        control.destroy(operation);
        services.events().queuePairs().remove(control.pointer());
        services.events().forget(this);
        services.owned().remove(ObjectKind.QUEUE_PAIR, this);
        domain.children().remove(ObjectKind.QUEUE_PAIR);
    }

    @Override
    public String toString() {
        return ResourceText.of(this, services.context());
    }
}
