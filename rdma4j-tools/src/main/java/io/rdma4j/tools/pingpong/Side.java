package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
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
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The verbs' objects of one side, from the protection domain to the queue pairs.
 *
 * <p>Closing it closes them, the youngest first.
 */
final class Side implements AutoCloseable {
    static final int RECEIVE_ID = 1;
    static final int SEND_ID = 2;
    private static final int QKEY = 0x11111111;
    private static final int PSNS = 1 << 24;
    private static final int HOPS = 64;
    /**
     * 0.27 s, and eight times that before giving up. The C programs say 14, a quarter of it, which a peer
     * that is not scheduled for half a second does not survive.
     */
    private static final int TIMEOUT = 16;
    private static final int RETRIES = 7;
    private static final int RNR_TIMER = 12;

    /** What can be closed. */
    @FunctionalInterface
    private interface Closing {
        void close() throws RdmaException;
    }

    private final Traffic traffic;
    private final PingPongOptions options;
    private final DeviceContext context;
    private final int gidIndex;
    private final Deque<Closing> closings = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final MessageBuffer buffer;
    private final @Nullable CompletionChannel channel;
    private final ExtendedCompletionQueue completions;
    private final @Nullable SharedReceiveQueue sharedReceives;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

    Side(DeviceContext context, PingPongOptions options, Traffic traffic) throws IOException {
        this.context = context;
        this.options = options;
        this.traffic = traffic;
        gidIndex = options.gidIndex(context);
        domain = context.allocateProtectionDomain();
        closings.push(domain::close);
        try {
            checkSize();
            buffer = new MessageBuffer(context, domain, traffic);
            closings.push(buffer::close);
            channel = options.usesEvents() ? CompletionChannel.create() : null;
            completions = createCompletionQueue();
            sharedReceives = traffic.isShared() ? createSharedReceives() : null;
            for (int i = 0; i < traffic.queuePairs(); i++) {
                addQueuePair();
            }
            send.id(SEND_ID).send().set(SendFlag.SIGNALED).add(buffer.region(),
                    traffic.headerLength(), traffic.size()).set(SendFlag.INLINE, isInline());
            receive.id(RECEIVE_ID).add(buffer.region(), 0,
                    traffic.headerLength() + traffic.size());
        } catch (IOException | RuntimeException e) {
            closeAfter(e);
            throw e;
        }
    }

    private void closeAfter(Exception e) {
        try {
            close();
        } catch (RdmaException second) {
            e.addSuppressed(second);
        }
    }

    private void checkSize() throws IOException {
        if (traffic.isDatagrams()) {
            int longest = context.queryPort(options.devicePort()).activeMtu().bytes();
            if (traffic.size() > longest) {
                throw new IOException("Requested size larger than port MTU (" + longest + ")");
            }
        }
    }

    private ExtendedCompletionQueue createCompletionQueue() throws RdmaException {
        CompletionChannel announcing = channel;
        if (announcing != null) {
            closings.push(announcing::close);
        }
        CompletionQueueInitAttributes wanted = new CompletionQueueInitAttributes()
                .capacity(options.receiveDepth() + traffic.queuePairs()).channel(announcing);
        if (traffic.has(Extra.TIMESTAMPS)) {
            wanted.fields(CompletionField.COMPLETION_TIMESTAMP);
        }
        ExtendedCompletionQueue queue = context.createCompletionQueue(wanted);
        closings.push(queue::close);
        return queue;
    }

    private SharedReceiveQueue createSharedReceives() throws RdmaException {
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(
                new SharedReceiveQueueAttributes(options.receiveDepth(), 1, 0), null);
        closings.push(queue::close);
        return queue;
    }

    private void addQueuePair() throws RdmaException {
        QueuePairInitAttributes wanted = new QueuePairInitAttributes().type(traffic.type())
                .completionQueue(completions).sharedReceiveQueue(sharedReceives)
                .capabilities(QueuePairCapabilities.ofDepth(1,
                        traffic.isShared() ? 0 : options.receiveDepth()));
        if (traffic.has(Extra.NEW_SEND)) {
            wanted.sendOperations(SendOpcode.SEND);
        }
        QueuePair queuePair = domain.createQueuePair(wanted);
        closings.push(queuePair::close);
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                .pkeyIndex(0).port(options.devicePort());
        queuePair.modify(traffic.isDatagrams() ? init.qkey(QKEY) : init.accessFlags(peerAccess()));
        queuePairs.add(queuePair);
        int lid = context.queryPort(options.devicePort()).lid();
        endpoints.add(new Endpoint(lid, queuePair.number(), new SecureRandom().nextInt(PSNS),
                context.queryGid(options.devicePort(), gidIndex)));
    }

    private Set<AccessFlag> peerAccess() {
        return traffic.has(Extra.ATOMICS)
                ? EnumSet.of(AccessFlag.REMOTE_ATOMIC)
                : EnumSet.noneOf(AccessFlag.class);
    }

    private boolean isInline() {
        return queuePairs.getFirst().capabilities().maxInlineData() >= traffic.size()
                && !traffic.has(Extra.DEVICE_MEMORY);
    }

    /** {@return the endpoints of this side, one for each queue pair} */
    List<Endpoint> endpoints() {
        return endpoints;
    }

    /** {@return what the side channel tells: the endpoints, filled up with unused ones} */
    List<Endpoint> told() {
        List<Endpoint> told = new ArrayList<>(endpoints);
        while (told.size() < traffic.endpoints()) {
            told.add(Endpoint.NONE);
        }
        return told;
    }

    MessageBuffer buffer() {
        return buffer;
    }

    ExtendedCompletionQueue completions() {
        return completions;
    }

    /** {@return where completions are announced; null if they are polled for} */
    @Nullable
    CompletionChannel channel() {
        return channel;
    }

    QueuePair queuePair(int index) {
        return queuePairs.get(index);
    }

    /** {@return the index of the queue pair of a number, -1 if there is none} */
    int indexOf(int number) {
        for (int i = 0; i < queuePairs.size(); i++) {
            if (queuePairs.get(i).number() == number) {
                return i;
            }
        }
        return -1;
    }

    // ---------------------------------------------------------------- to the peer

    /** Makes the queue pairs ready to receive from those of the peer and to send to them. */
    void connect(List<Endpoint> remote) throws IOException {
        checkNumber(remote);
        for (int i = 0; i < queuePairs.size(); i++) {
            connect(queuePairs.get(i), endpoints.get(i), remote.get(i));
        }
    }

    private void checkNumber(List<Endpoint> remote) throws IOException {
        long number = remote.stream().filter(endpoint -> endpoint.queuePair() != 0).count();
        if (number != queuePairs.size()) {
            throw new IOException("the peer has " + number + " queue pairs, this side "
                    + queuePairs.size() + "; both need the same -q");
        }
    }

    private void connect(QueuePair queuePair, Endpoint own, Endpoint remote) throws IOException {
        if (remote.gid().isZero()) {
            throw new IOException("the peer told no GID, which RoCE needs; start it with -g");
        }
        if (remote.gid().isIpv4() != own.gid().isIpv4()) {
            throw new IOException("the GIDs " + own.gid().addressText() + " and "
                    + remote.gid().addressText() + " are not of the same IP version; choose others"
                    + " with -g");
        }
        AddressHandleAttributes path = AddressHandleAttributes.to(remote.gid(), gidIndex)
                .withHopLimit(HOPS).withDestinationLid(remote.lid() & 0xffff)
                .withServiceLevel(options.serviceLevel()).withPort(options.devicePort());
        QueuePairAttributes receiving = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes sending = new QueuePairAttributes().state(QueuePairState.RTS)
                .sendPsn(own.psn());
        if (traffic.isDatagrams()) {
            AddressHandle handle = domain.createAddressHandle(path);
            closings.push(handle::close);
            send.to(handle, remote.queuePair(), QKEY);
        } else {
            receiving.addressVector(path).pathMtu(traffic.mtu())
                    .destinationQueuePair(remote.queuePair()).receivePsn(remote.psn());
        }
        if (traffic.type() == QueuePairType.RC) {
            receiving.maxDestinationReadAtomic(1).minRnrTimer(RNR_TIMER);
            sending.timeout(TIMEOUT).retryCount(RETRIES).rnrRetry(RETRIES).maxReadAtomic(1);
        }
        queuePair.modify(receiving);
        queuePair.modify(sending);
    }

    // ---------------------------------------------------------------- posting

    void postReceives(int count) throws RdmaException {
        SharedReceiveQueue shared = sharedReceives;
        for (int i = 0; i < count; i++) {
            if (shared != null) {
                shared.post(receive);
            } else {
                queuePairs.getFirst().postReceive(receive);
            }
        }
    }

    void postSend(int index) throws RdmaException {
        QueuePair queuePair = queuePairs.get(index);
        if (!traffic.has(Extra.NEW_SEND)) {
            queuePair.postSend(send);
            return;
        }
        var batch = queuePair.extended();
        batch.start();
        batch.id(SEND_ID).flags(SendFlag.SIGNALED).send().element(buffer.region(),
                traffic.headerLength(), traffic.size());
        batch.complete();
    }

    @Override
    public void close() throws RdmaException {
        while (!closings.isEmpty()) {
            closings.pop().close();
        }
    }
}
