package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Layout.WindowBind;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.ibverbs.values.QueuePairValues;
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
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A queue pair. Posting takes a lock of its own for sends and one for receives, closing takes both, so that no call
 * reaches the library's object while it is freed. These locks come before the context's: a thread that posts may have to
 * free a region, and one that is in a batch may do anything else.
 */
final class NativeQueuePair implements QueuePair {
    private static final String CREATE = "create queue pair";
    private static final String MODIFY = "modify queue pair";
    private static final int ALL_ATTRIBUTES = 0x1f_ffff;
    private static final int CREATE_FLAGS_MASK = 1 << 1;
    private static final int PD_MASK = 1;
    private static final int BLOCK_SELF_MULTICAST = 1 << 1;

    private final NativeProtectionDomain domain;
    private final NativeContext context;
    private final QueuePairInitAttributes initial;
    private final NativeCompletionQueue sendQueue;
    private final NativeCompletionQueue receiveQueue;
    private final @Nullable NativeSharedReceiveQueue shared;
    private final QueuePairCapabilities sizes;
    private final long pointer;
    private final int number;
    private final Arena arena = Arena.ofShared();
    private final OutstandingWork sends;
    private final OutstandingWork receives;
    private final long sendTag;
    private final long receiveTag;
    private final SendPosting posting;
    private final ReceivePosting receivePosting;
    private final @Nullable NativeSendBatch batch;
    private final ReentrantLock sendLock = new ReentrantLock();
    private final ReentrantLock receiveLock = new ReentrantLock();
    private final AsyncEventSource events;
    private final Set<Gid> groups = new HashSet<>();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean isClosed;

    private NativeQueuePair(NativeProtectionDomain domain, QueuePairInitAttributes wanted,
            NativeCompletionQueue sendQueue, NativeCompletionQueue receiveQueue,
            @Nullable NativeSharedReceiveQueue shared, Set<SendOpcode> offered)
            throws RdmaException {
        this.domain = domain;
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.shared = shared;
        context = domain.owner();
        initial = new QueuePairInitAttributes(wanted);
        events = context.newEventSource(this);
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment attributes = ofCall
                    .allocate(QueuePairInitAttr.EXTENDED_SIZE + Layout.SLACK, 8);
            write(attributes);
            pointer = create(attributes);
            QueuePairCapabilities given = QueuePairValues.readCapabilities(attributes,
                    QueuePairInitAttr.MAX_SEND_WR);
            sizes = sizes(wanted.capabilities(), given);
        }
        initial.capabilities(sizes);
        number = Native.getInt(Native.at(pointer, Layout.QueuePair.SIZE),
                Layout.QueuePair.QP_NUM);
        sends = new OutstandingWork(sizes.maxSendRequests());
        receives = new OutstandingWork(sizes.maxReceiveRequests());
        sendTag = context.ledgers().add(sends);
        receiveTag = context.ledgers().add(receives);
        posting = new SendPosting(this, arena,
                context.functions().address(ContextOperation.POST_SEND), sendTag, sends, offered,
                context.longestMessage(wanted.type()));
        receivePosting = new ReceivePosting(arena,
                context.functions().address(ContextOperation.POST_RECV), pointer,
                sizes.maxReceiveElements());
        Set<SendOpcode> operations = wanted.sendOperations();
        batch = operations == null ? null : new NativeSendBatch(this, operations);
        domain.dependents().add();
        sendQueue.dependents().add();
        receiveQueue.dependents().add();
        if (shared != null) {
            shared.dependents().add();
        }
        context.queuePairs().put(pointer, this);
    }

    /** Under the context's lock. */
    static NativeQueuePair create(NativeProtectionDomain domain, QueuePairInitAttributes wanted)
            throws RdmaException {
        NativeContext context = domain.owner();
        NativeCompletionQueue sends = NativeCompletionQueue.own(wanted.sendCompletionQueue(),
                context, CREATE, "sends");
        NativeCompletionQueue receives = NativeCompletionQueue
                .own(wanted.receiveCompletionQueue(), context, CREATE, "receives");
        boolean isIwarp = context.device().transport() == TransportType.IWARP;
        Set<SendOpcode> offered = SendChecks.operations(wanted.type(), isIwarp);
        if (offered.isEmpty() || (isIwarp && wanted.type() != QueuePairType.RC)) {
            throw RdmaException.unsupported(CREATE,
                    "queue pairs of type " + wanted.type() + " are not to be had on this device");
        }
        Set<SendOpcode> operations = wanted.sendOperations();
        if (operations != null && !offered.containsAll(operations)) {
            Set<SendOpcode> missing = new HashSet<>(operations);
            missing.removeAll(offered);
            throw RdmaException.unsupported(CREATE, "queue pairs of type " + wanted.type()
                    + " of this device cannot do " + missing);
        }
        return new NativeQueuePair(domain, wanted, sends, receives,
                shared(wanted.sharedReceiveQueue(), domain), offered);
    }

    private static @Nullable NativeSharedReceiveQueue shared(@Nullable SharedReceiveQueue queue,
            NativeProtectionDomain domain) throws RdmaException {
        if (queue == null) {
            return null;
        }
        if (queue instanceof NativeSharedReceiveQueue own && own.owner().equals(domain)) {
            own.checkOpen();
            return own;
        }
        throw new RdmaException(Errno.EINVAL, CREATE,
                "the shared receive queue is of another protection domain");
    }

    private void write(MemorySegment attributes) {
        Native.putLong(attributes, QueuePairInitAttr.SEND_CQ, sendQueue.pointer());
        Native.putLong(attributes, QueuePairInitAttr.RECV_CQ, receiveQueue.pointer());
        Native.putLong(attributes, QueuePairInitAttr.SRQ, shared == null ? 0 : shared.pointer());
        QueuePairValues.writeCapabilities(attributes, QueuePairInitAttr.MAX_SEND_WR,
                initial.capabilities());
        Native.putInt(attributes, QueuePairInitAttr.QP_TYPE, initial.type().code());
        Native.putInt(attributes, QueuePairInitAttr.SQ_SIG_ALL, initial.signalAll() ? 1 : 0);
    }

    private long create(MemorySegment attributes) throws RdmaException {
        QueuePairCapabilities asked = initial.capabilities();
        String advice = "the device refused " + initial.type() + " with " + asked.maxSendRequests()
                + " sends of " + asked.maxSendElements() + " elements, "
                + asked.maxReceiveRequests() + " receives of " + asked.maxReceiveElements()
                + " and " + asked.maxInlineData() + " bytes inline; ibv_devinfo -v shows its"
                + " max_qp, max_qp_wr and max_sge, and memory for queues counts against ulimit -l";
        if (!initial.blockSelfMulticastLoopback()) {
            return context.verbs().get(VerbsSymbol.CREATE_QP)
                    .call(domain.pointer(), attributes.address()).pointer(CREATE, advice);
        }
        NativeFunction extended = context.functions().require(ContextOperation.CREATE_QP_EX,
                CREATE);
        Native.putInt(attributes, QueuePairInitAttr.COMP_MASK, PD_MASK | CREATE_FLAGS_MASK);
        Native.putLong(attributes, QueuePairInitAttr.PD, domain.pointer());
        Native.putInt(attributes, QueuePairInitAttr.CREATE_FLAGS, BLOCK_SELF_MULTICAST);
        return extended.call(context.pointer(), attributes.address()).pointer(CREATE, advice);
    }

    /** {@return what was given; some drivers leave numbers away that they do not change} */
    private static QueuePairCapabilities sizes(QueuePairCapabilities asked,
            QueuePairCapabilities given) {
        return new QueuePairCapabilities(
                Math.max(asked.maxSendRequests(), given.maxSendRequests()),
                Math.max(asked.maxReceiveRequests(), given.maxReceiveRequests()),
                Math.max(asked.maxSendElements(), given.maxSendElements()),
                Math.max(asked.maxReceiveElements(), given.maxReceiveElements()),
                Math.max(asked.maxInlineData(), given.maxInlineData()));
    }

    long pointer() {
        return pointer;
    }

    NativeProtectionDomain owner() {
        return domain;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the queue pair is closed");
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairType type() {
        return initial.type();
    }

    @Override
    public QueuePairState state() {
        checkOpen();
        return state;
    }

    @Override
    public CompletionQueue sendCompletionQueue() {
        return sendQueue;
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return receiveQueue;
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
    public long counter(Counter counter) {
        // Drivers count for a port, not for a queue pair.
        return 0;
    }

    // ---------------------------------------------------------------- state

    @Override
    public void modify(QueuePairAttributes attributes) throws RdmaException {
        if (attributes.isSet(QueuePairAttribute.SOURCE_MAC)
                || attributes.isSet(QueuePairAttribute.VLAN_ID)) {
            throw RdmaException.unsupported(MODIFY, "the kernel finds MAC and VLAN by itself");
        }
        context.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            QueuePairState next = context.transitions().check(type(), state, attributes);
            MemorySegment structure = ofCall.allocate(QueuePairAttr.SIZE + Layout.SLACK, 8);
            int mask = QueuePairValues.write(structure.asSlice(0, QueuePairAttr.SIZE), attributes);
            context.verbs().get(VerbsSymbol.MODIFY_QP).call(pointer, structure.address(), mask)
                    .check(MODIFY, "the device refused to go from " + state + " to " + next
                            + " with " + attributes);
            onState(next);
        } finally {
            context.unlock();
        }
    }

    /** The kernel has moved it, as it connected or ended it. */
    void onKernelState(QueuePairState next) {
        if (!isClosed) {
            onState(next);
        }
    }

    private void onState(QueuePairState next) {
        state = next;
        if (next == QueuePairState.RESET) {
            sends.clear();
            receives.clear();
        }
        if (next == QueuePairState.RESET || next == QueuePairState.ERR) {
            tellWaiters();
        }
    }

    private void tellWaiters() {
        sendQueue.waiters().onEnd();
        receiveQueue.waiters().onEnd();
    }

    @Override
    public QueuePairAttributes query() throws RdmaException {
        String operation = "query queue pair";
        context.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment attributes = ofCall.allocate(QueuePairAttr.SIZE + Layout.SLACK, 8);
            MemorySegment init = ofCall.allocate(QueuePairInitAttr.SIZE + Layout.SLACK, 8);
            // A driver that does not know the state leaves it as it is here.
            Native.putInt(attributes, QueuePairAttr.QP_STATE, QueuePairValues.code(state));
            context.verbs().get(VerbsSymbol.QUERY_QP)
                    .call(pointer, attributes.address(), ALL_ATTRIBUTES, init.address())
                    .check(operation, "the device cannot tell");
            QueuePairAttributes known = QueuePairValues.read(attributes, ALL_ATTRIBUTES);
            if (context.isStateKept()) {
                known.state(state);
            } else if (known.state() != state) {
                onState(known.state());
            }
            return known.currentState(known.state()).capabilities(sizes);
        } finally {
            context.unlock();
        }
    }

    /** {@return why no send or receive can complete any more, null if one can} As {@code CmContext.ended}. */
    @Nullable
    Errno ended(boolean ofReceives) throws RdmaException {
        if (isClosed) {
            return Errno.EBADF;
        }
        QueuePairState now = query().state();
        if (now != QueuePairState.ERR && now != QueuePairState.RESET) {
            return null;
        }
        boolean isOutstanding = ofReceives ? receives.isOutstanding() : sends.isOutstanding();
        return isOutstanding ? null : Errno.ENOTCONN;
    }

    void onAsyncEvent(AsyncEventType type) {
        switch (type) {
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR -> tellWaiters();
            default -> {
                // It goes on.
            }
        }
        events.publish(type, 0);
    }

    // ---------------------------------------------------------------- posting

    @Override
    public void postSend(SendWorkRequest request) throws RdmaException {
        sendLock.lock();
        try {
            checkOpen();
            requireNoBatch();
            posting.drop();
            posting.stage(request);
            posting.post();
        } catch (SendPosting.Refused refused) {
            throw refused.why();
        } finally {
            sendLock.unlock();
        }
    }

    @Override
    public void postSend(List<SendWorkRequest> requests) throws RdmaException {
        sendLock.lock();
        try {
            checkOpen();
            requireNoBatch();
            post(requests);
        } finally {
            sendLock.unlock();
        }
    }

    /** Posts what comes before a request that is refused. Under the lock of sends. */
    private void post(List<SendWorkRequest> requests) throws RdmaException {
        posting.drop();
        int begun = 0;
        int next = 0;
        RdmaException why = null;
        while (next < requests.size() && why == null) {
            try {
                posting.stage(Requests.given(requests, next));
                next++;
            } catch (RdmaException refused) {
                why = new PostException(refused, next);
            } catch (IllegalStateException mistake) {
                why = new PostException(SendChecks.OPERATION, mistake, next);
            }
            if (why != null || !posting.hasRoom() || next == requests.size()) {
                try {
                    posting.post();
                } catch (SendPosting.Refused refused) {
                    throw new PostException(refused.why(), begun + refused.posted());
                }
                begun = next;
            }
        }
        if (why != null) {
            throw why;
        }
    }

    private void requireNoBatch() {
        if (batch != null && batch.isOfThisThread()) {
            throw new IllegalStateException(
                    "this thread is in a batch: complete or abort it first");
        }
    }

    /** {@return the lock that a batch keeps until it is over} */
    ReentrantLock sendLock() {
        return sendLock;
    }

    /** Posts the requests of a batch, all or none as far as they are checked here. Under the lock of sends. */
    void postBatch(List<SendWorkRequest> requests) throws RdmaException {
        if (requests.size() > SendPosting.CHAIN) {
            post(requests);
            return;
        }
        posting.drop();
        for (SendWorkRequest request : requests) {
            posting.stage(request);
        }
        try {
            posting.post();
        } catch (SendPosting.Refused refused) {
            throw refused.why();
        }
    }

    @Override
    public ExtendedQueuePair extended() {
        if (batch == null) {
            throw new IllegalStateException("the queue pair was created without sendOperations,"
                    + " which say what is posted piece by piece");
        }
        return batch;
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) throws RdmaException {
        receiveLock.lock();
        try {
            checkOpen();
            checkReceives();
            receivePosting.check(request, domain);
            if (!receives.hasRoom(1)) {
                throw new RdmaException(Errno.ENOMEM, ReceivePosting.OPERATION,
                        "the queue is full: all " + sizes.maxReceiveRequests()
                                + " requests are outstanding; take completions first");
            }
            long place = receives.note(0, request.id(), WorkCompletionOpcode.RECEIVE);
            receives.commit(1);
            boolean isPosted = false;
            try {
                receivePosting.post(request, receiveTag | place);
                isPosted = true;
            } finally {
                if (!isPosted) {
                    receives.takeBack(1);
                }
            }
        } finally {
            receiveLock.unlock();
        }
    }

    private void checkReceives() throws RdmaException {
        if (shared != null) {
            throw new RdmaException(Errno.EINVAL, ReceivePosting.OPERATION,
                    "the queue pair draws from a shared receive queue; post there");
        }
        if (state == QueuePairState.RESET) {
            throw new RdmaException(Errno.EINVAL, ReceivePosting.OPERATION,
                    "the queue pair is in state RESET; receives need INIT or later");
        }
    }

    @Override
    public void postReceive(List<ReceiveWorkRequest> requests) throws RdmaException {
        checkOpen();
        int posted = 0;
        try {
            for (; posted < requests.size(); posted++) {
                postReceive(Requests.given(requests, posted));
            }
        } catch (RdmaException refused) {
            throw new PostException(refused, posted);
        } catch (IllegalStateException mistake) {
            throw new PostException(ReceivePosting.OPERATION, mistake, posted);
        }
    }

    // ---------------------------------------------------------------- memory windows

    /** A bind of a window of type 2 is about to be posted. */
    void windowsChange(NativeMemoryWindow window, @Nullable NativeMemoryRegion region,
            int newRkey) {
        context.lock();
        try {
            window.bind(region, newRkey);
        } finally {
            context.unlock();
        }
    }

    @Override
    public void bindMemoryWindow(MemoryWindow window, long requestId, MemoryWindowBind bind,
            boolean signaled) throws RdmaException {
        String operation = "bind memory window";
        if (!(window instanceof NativeMemoryWindow own)
                || own.type() != MemoryWindowType.TYPE_1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "only a window of type 1 of this device is bound here, not " + window.type());
        }
        NativeMemoryRegion region = NativeMemoryRegion.own(bind.region(), context, operation);
        if (!own.owner().equals(domain) || !region.owner().equals(domain)) {
            throw new RdmaException(Errno.EPERM, operation,
                    "window, region and queue pair are not of one protection domain");
        }
        NativeFunction function = context.functions().require(ContextOperation.BIND_MW,
                operation);
        sendLock.lock();
        context.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            own.checkOpen();
            MemorySegment structure = ofCall.allocate(WindowBind.SIZE, 8);
            SendPosting.writeBind(structure, 0, region, bind);
            long place = sends.note(0, requestId, WorkCompletionOpcode.BIND_MEMORY_WINDOW);
            Native.putLong(structure, WindowBind.WR_ID, sendTag | place);
            Native.putInt(structure, WindowBind.SEND_FLAGS,
                    signaled ? SendFlag.SIGNALED.bit() : 0);
            sends.commit(1);
            try {
                function.call(pointer, own.pointer(), structure.address()).check(operation,
                        "the device refused: the region needs MW_BIND, and the queue room");
            } catch (RdmaException refused) {
                sends.takeBack(1);
                throw refused;
            }
            own.keyChanged(bind.length() == 0 ? null : region);
        } finally {
            context.unlock();
            sendLock.unlock();
        }
    }

    // ---------------------------------------------------------------- multicast

    @Override
    public void attachMulticast(Gid group) throws RdmaException {
        checkGroup(group, "attach multicast");
        context.lock();
        try {
            checkOpen();
            if (!groups.contains(group)) {
                callForGroup(VerbsSymbol.ATTACH_MCAST, group, "attach multicast");
                groups.add(group);
            }
        } finally {
            context.unlock();
        }
    }

    @Override
    public void detachMulticast(Gid group) throws RdmaException {
        checkGroup(group, "detach multicast");
        context.lock();
        try {
            checkOpen();
            if (!groups.contains(group)) {
                throw new RdmaException(Errno.EINVAL, "detach multicast",
                        "the queue pair has not joined " + group.addressText());
            }
            callForGroup(VerbsSymbol.DETACH_MCAST, group, "detach multicast");
            groups.remove(group);
        } finally {
            context.unlock();
        }
    }

    private void checkGroup(Gid group, String operation) throws RdmaException {
        if (type() != QueuePairType.UD || !group.isMulticast()) {
            throw new RdmaException(Errno.EINVAL, operation, type() != QueuePairType.UD
                    ? "groups are for queue pairs of type UD, not " + type()
                    : group.addressText() + " is no multicast address");
        }
    }

    private void callForGroup(VerbsSymbol symbol, Gid group, String operation)
            throws RdmaException {
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment gid = ofCall.allocate(2 * Long.BYTES, 8);
            Paths.writeGid(gid, 0, group);
            context.verbs().get(symbol).call(pointer, gid.address(), 0).check(operation,
                    "the device refused " + group.addressText()
                            + "; ibv_devinfo -v shows its max_mcast_grp");
        }
    }

    // ---------------------------------------------------------------- what else it knows

    @Override
    public boolean isDataInOrder(SendOpcode opcode) throws RdmaException {
        NativeFunction function = context.verbs().find(VerbsSymbol.QUERY_QP_DATA_IN_ORDER);
        context.lock();
        try {
            checkOpen();
            return function != null && function.call(pointer, opcode.code(), 0).value() == 1;
        } finally {
            context.unlock();
        }
    }

    @Override
    public void enhancedConnectionOptions(EnhancedConnectionOptions options)
            throws RdmaException {
        String operation = "set enhanced connection options";
        NativeFunction function = context.verbs().require(VerbsSymbol.SET_ECE, operation);
        context.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment ece = ofCall.allocate(Layout.Ece.SIZE + Layout.SLACK, 8);
            Native.putInt(ece, Layout.Ece.VENDOR_ID, options.vendorId());
            Native.putInt(ece, Layout.Ece.OPTIONS, options.options());
            function.call(pointer, ece.address()).check(operation,
                    "the device has none, or not these");
        } finally {
            context.unlock();
        }
    }

    @Override
    public EnhancedConnectionOptions enhancedConnectionOptions() throws RdmaException {
        String operation = "query enhanced connection options";
        NativeFunction function = context.verbs().require(VerbsSymbol.QUERY_ECE, operation);
        context.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment ece = ofCall.allocate(Layout.Ece.SIZE + Layout.SLACK, 8);
            function.call(pointer, ece.address()).check(operation, "the device cannot tell");
            return new EnhancedConnectionOptions(Native.getInt(ece, Layout.Ece.VENDOR_ID),
                    Native.getInt(ece, Layout.Ece.OPTIONS));
        } finally {
            context.unlock();
        }
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() throws RdmaException {
        String operation = "close queue pair";
        sendLock.lock();
        receiveLock.lock();
        context.lock();
        try {
            if (isClosed) {
                return;
            }
            if (!groups.isEmpty()) {
                throw new RdmaException(Errno.EBUSY, operation, "it is attached to "
                        + groups.size() + " multicast group(s); detach it first");
            }
            events.requireAcknowledged(operation);
            destroy(operation);
            context.queuePairs().remove(pointer);
            context.ledgers().remove(sendTag);
            context.ledgers().remove(receiveTag);
            events.discard();
            arena.close();
            domain.dependents().remove();
            sendQueue.dependents().remove();
            receiveQueue.dependents().remove();
            if (shared != null) {
                shared.dependents().remove();
            }
        } finally {
            context.unlock();
            receiveLock.unlock();
            sendLock.unlock();
        }
        tellWaiters();
        context.onReleased();
    }

    /** After a failure the object is not touched any more: some drivers have freed its queues by then. */
    private void destroy(String operation) throws RdmaException {
        isClosed = true;
        state = QueuePairState.ERR;
        context.verbs().get(VerbsSymbol.DESTROY_QP).call(pointer).check(operation,
                "the device could not free it; the context cannot be closed any more");
    }
}
