// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.endpoint.OpenObjects;
import io.rdma4j.tools.endpoint.ReliableSettings;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The verbs' objects of one side: a region, a completion queue for everything, queue pairs.
 *
 * <p>Each queue pair has a range of memory that it sends from and reads into, and one that it receives into and
 * whose address the peer gets. Closing the side closes all objects in reverse order.
 */
final class TestSide implements Closeable {
    private static final int PAGE = 4096;

    private final DeviceContext context;
    private final @Nullable CmQueuePairs managed;
    private final Plan plan;
    private final LocalPort port;
    private final LinkLayer linkLayer;
    private final Mtu mtu;
    private final int outstanding;
    private final long pieceBytes;
    private final OpenObjects open = new OpenObjects();
    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final @Nullable CompletionChannel channel;
    private final @Nullable Credits credits;
    private final CompletionQueue completions;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final List<Endpoint> remote = new ArrayList<>();
    private final List<@Nullable DatagramDestination> destinations = new ArrayList<>();

    /**
     * Creates them.
     *
     * @param managed connects the queue pairs; null if the sides do so with {@link #connect}
     * @param mtu the path MTU that both sides agreed on
     * @param cycleBytes how much the peer may use behind an address, however short messages are
     */
    TestSide(LocalPort port, @Nullable CmQueuePairs managed, Plan plan, Mtu mtu, int cycleBytes)
            throws IOException {
        this.context = port.context();
        this.managed = managed;
        this.plan = plan;
        this.port = port;
        this.mtu = mtu;
        linkLayer = context.queryPort(port.number()).linkLayer();
        outstanding = outstanding();
        requireFittingList();
        long bytes = Math.max(cycleBytes, plan.longest() + headerLength());
        pieceBytes = (bytes + PAGE - 1) / PAGE * PAGE;
        domain = context.allocateProtectionDomain();
        open.add(domain::close);
        try {
            Arena arena = Arena.ofShared();
            open.add(arena::close);
            Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
            access.addAll(plan.verb().peerAccess());
            // Of the device: it can be read by another process where it is.
            region = domain.allocateRegion(2L * plan.queuePairs() * pieceBytes, access);
            open.add(region::close);
            memory = region.segment();
            credits = needsCredits() ? new Credits(domain, arena, plan.queuePairs()) : null;
            if (credits != null) {
                open.add(credits::close);
            }
            channel = plan.usesEvents() ? CompletionChannel.create() : null;
            completions = createCompletionQueue();
            if (managed != null) {
                open.add(managed::close);
            }
            for (int i = 0; i < plan.queuePairs(); i++) {
                addQueuePair(i);
            }
        } catch (IOException | RuntimeException e) {
            open.closeAfter(e);
            throw e;
        }
    }

    private int outstanding() throws RdmaException {
        int most = (int) context.queryDevice().limit(DeviceLimit.MAX_QP_RD_ATOM);
        return plan.outstanding() == 0 ? most : Math.min(plan.outstanding(), most);
    }

    private void requireFittingList() throws IOException {
        if (needsCredits() && plan.isSending() && plan.list() > plan.receiveDepth()) {
            throw new IOException("-l " + plan.list() + " posts more messages at once than the "
                    + plan.receiveDepth() + " that the peer receives at a time over iWARP; give a"
                    + " smaller -l, or a larger -r on both sides");
        }
    }

    /** Over iWARP a message without a receive ends the connection. */
    private boolean needsCredits() {
        return plan.verb().isSend() && !plan.isLatency()
                && transport() == TransportType.IWARP;
    }

    private int sendDepth() {
        return plan.sendDepth() + (credits == null ? 0 : Credits.DEPTH);
    }

    private CompletionQueue createCompletionQueue() throws RdmaException {
        int capacity = plan.queuePairs() * (sendDepth() + plan.receiveDepth());
        CompletionChannel announcing = channel;
        CompletionQueue queue;
        if (announcing == null) {
            queue = context.createCompletionQueue(capacity);
        } else {
            open.add(announcing::close);
            queue = context.createCompletionQueue(capacity, announcing);
        }
        open.add(queue::close);
        return queue;
    }

    private void addQueuePair(int index) throws IOException {
        QueuePairInitAttributes attributes = new QueuePairInitAttributes().type(plan.type())
                .completionQueue(completions).capabilities(QueuePairCapabilities
                        .ofDepth(sendDepth(), plan.receiveDepth())
                        .withInlineData(plan.inlineBytes()));
        QueuePair queuePair = managed == null
                ? createQueuePair(attributes)
                : managed.connect(index, domain, attributes, outstanding);
        queuePairs.add(queuePair);
        if (managed != null && plan.isDatagrams()) {
            destinations.add(managed.destination(index));
        }
        endpoints.add(credits == null
                ? new Endpoint(port.addressOf(queuePair), outstanding, region.rkey(),
                        region.address() + receiveOffset(index))
                : new Endpoint(port.addressOf(queuePair), outstanding, credits.rkey(),
                        credits.address(index)));
    }

    private QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        QueuePair queuePair = domain.createQueuePair(attributes);
        open.add(queuePair::close);
        port.initialize(queuePair, plan.verb().peerAccess());
        return queuePair;
    }

    // ---------------------------------------------------------------- what there is

    List<Endpoint> endpoints() {
        return endpoints;
    }

    /** {@return the endpoint that stands for the side where sides only meet} */
    Endpoint first() {
        return endpoints.getFirst();
    }

    Mtu mtu() {
        return mtu;
    }

    int outstandingReads() {
        return outstanding;
    }

    String device() {
        return context.device().name();
    }

    TransportType transport() {
        return context.device().transport();
    }

    LinkLayer linkLayer() {
        return linkLayer;
    }

    int gidIndex() {
        return port.gidIndex();
    }

    List<QueuePair> queuePairs() {
        return queuePairs;
    }

    QueuePair queuePair(int index) {
        return queuePairs.get(index);
    }

    CompletionQueue completions() {
        return completions;
    }

    /**
     * {@return the credits that keep senders from exceeding the posted receives; null if the transport does that}
     */
    @Nullable
    Credits credits() {
        return credits;
    }

    /** {@return the request that sends the peer the number of taken messages of a queue pair} */
    SendWorkRequest credit(Credits of, int index, long taken) {
        return of.credit(index, taken, remote.get(index));
    }

    /** {@return the channel of completion events; null if completions are polled} */
    @Nullable
    CompletionChannel channel() {
        return channel;
    }

    MemorySegment memory() {
        return memory;
    }

    /** {@return bytes before a message in receive buffers} */
    int headerLength() {
        return plan.isDatagrams() ? AddressHandle.GLOBAL_ROUTE_LENGTH : 0;
    }

    /** {@return the offset in memory of a queue pair's sent messages} */
    long sendOffset(int index) {
        return index * pieceBytes;
    }

    /** {@return the offset in memory of a queue pair's received messages} */
    long receiveOffset(int index) {
        return (plan.queuePairs() + index) * pieceBytes;
    }

    /** {@return the number of packets from the peer, 0 if the device does not count them for a queue pair} */
    long arrived() {
        long packets = 0;
        for (QueuePair queuePair : queuePairs) {
            packets += queuePair.counters().getOrDefault("rcvd_pkts", 0L);
        }
        return packets;
    }

    // ---------------------------------------------------------------- to the peer

    /** {@return whether the connection manager connects the queue pairs} */
    boolean isManaged() {
        return managed != null;
    }

    /** Makes the queue pairs ready to receive from those of the peer and to send to them, unless they are. */
    void connect(List<Endpoint> peers) throws IOException {
        remote.addAll(peers);
        if (managed != null) {
            return;
        }
        for (int i = 0; i < queuePairs.size(); i++) {
            connect(queuePairs.get(i), endpoints.get(i), peers.get(i));
        }
    }

    private void connect(QueuePair queuePair, Endpoint own, Endpoint peer) throws IOException {
        if (plan.isDatagrams()) {
            AddressHandle handle = port.connectDatagrams(queuePair, own.queuePair(),
                    peer.queuePair());
            open.add(handle::close);
            destinations.add(
                    new DatagramDestination(handle, peer.queuePair().number(), LocalPort.QKEY));
        } else {
            port.connect(queuePair, own.queuePair(), peer.queuePair(), mtu, new ReliableSettings(
                    plan.timeout(), outstanding, Math.min(outstanding, peer.outstanding())));
        }
    }

    // ---------------------------------------------------------------- requests

    /** {@return a request of the kind that is measured; its number and whether it is signaled are to be set} */
    SendWorkRequest request(int index, long size) {
        Endpoint peer = remote.get(index);
        SendWorkRequest request = new SendWorkRequest().add(region, sendOffset(index), size);
        switch (plan.verb()) {
            case SEND -> request.send();
            case WRITE -> request.write(peer.address(), peer.rkey());
            case READ -> request.read(peer.address(), peer.rkey());
            case ATOMIC -> atomic(request, peer);
        }
        if (plan.isDatagrams()) {
            DatagramDestination destination = Objects.requireNonNull(destinations.get(index));
            request.to(destination.handle(), destination.queuePair(), destination.qkey());
        }
        return request.set(SendFlag.INLINE,
                !plan.verb().isAnswered() && size <= plan.inlineBytes());
    }

    private void atomic(SendWorkRequest request, Endpoint peer) {
        switch (plan.atomic()) {
            case CMP_AND_SWAP -> request.compareAndSwap(peer.address(), peer.rkey(), 0, 0);
            case FETCH_AND_ADD -> request.fetchAndAdd(peer.address(), peer.rkey(), 1);
        }
    }

    /** {@return a receive for one message} */
    ReceiveWorkRequest receive(int index, long size) {
        return new ReceiveWorkRequest().add(region, receiveOffset(index), headerLength() + size);
    }

    @Override
    public void close() throws RdmaException {
        open.close();
    }
}
