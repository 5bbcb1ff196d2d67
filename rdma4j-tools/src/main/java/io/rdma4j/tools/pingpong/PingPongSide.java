// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.endpoint.OpenObjects;
import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.tools.endpoint.ReliableSettings;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The verbs' objects of one side, from the protection domain to the queue pairs.
 *
 * <p>Closing it closes them, the youngest first.
 */
final class PingPongSide implements Closeable {
    static final int RECEIVE_ID = 1;
    static final int SEND_ID = 2;
    /**
     * A time-out of 0.27 s, and eight times that before giving up. The C programs say 14, a quarter of it, which a
     * peer that is not scheduled for half a second does not survive.
     */
    private static final ReliableSettings RELIABLE = new ReliableSettings(16, 1, 1);

    private final Traffic traffic;
    private final PingPongOptions options;
    private final LocalPort port;
    private final DeviceContext context;
    private final OpenObjects open = new OpenObjects();
    private final ProtectionDomain domain;
    private final MessageBuffer buffer;
    private final @Nullable CompletionChannel channel;
    private final ExtendedCompletionQueue completions;
    private final @Nullable SharedReceiveQueue sharedReceives;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final List<QueuePairAddress> addresses = new ArrayList<>();
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

    PingPongSide(LocalPort port, PingPongOptions options, Traffic traffic) throws IOException {
        this.port = port;
        this.options = options;
        this.traffic = traffic;
        context = port.context();
        domain = context.allocateProtectionDomain();
        open.add(domain::close);
        try {
            traffic.checkSize(context, port.number());
            buffer = new MessageBuffer(context, domain, traffic);
            open.add(buffer::close);
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
            open.closeAfter(e);
            throw e;
        }
    }

    private ExtendedCompletionQueue createCompletionQueue() throws RdmaException {
        CompletionChannel announcing = channel;
        if (announcing != null) {
            open.add(announcing::close);
        }
        CompletionQueueInitAttributes wanted = new CompletionQueueInitAttributes()
                .capacity(options.receiveDepth() + traffic.queuePairs()).channel(announcing);
        if (traffic.has(Feature.TIMESTAMPS)) {
            wanted.fields(CompletionField.COMPLETION_TIMESTAMP);
        }
        ExtendedCompletionQueue queue = context.createExtendedCompletionQueue(wanted);
        open.add(queue::close);
        return queue;
    }

    private SharedReceiveQueue createSharedReceives() throws RdmaException {
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(options.receiveDepth()));
        open.add(queue::close);
        return queue;
    }

    private void addQueuePair() throws RdmaException {
        QueuePairInitAttributes wanted = new QueuePairInitAttributes().type(traffic.type())
                .completionQueue(completions).sharedReceiveQueue(sharedReceives)
                .capabilities(QueuePairCapabilities.ofDepth(1,
                        traffic.isShared() ? 0 : options.receiveDepth()));
        if (traffic.has(Feature.NEW_SEND)) {
            wanted.sendOperations(SendOpcode.SEND);
        }
        QueuePair queuePair = domain.createQueuePair(wanted);
        open.add(queuePair::close);
        port.initialize(queuePair, peerAccess());
        queuePairs.add(queuePair);
        QueuePairAddress address = port.addressOf(queuePair);
        addresses.add(address.withPsn(address.psn() & AddressText.LARGEST_MARKED_PSN));
    }

    private Set<AccessFlag> peerAccess() {
        return traffic.has(Feature.ATOMICS)
                ? EnumSet.of(AccessFlag.REMOTE_ATOMIC)
                : EnumSet.noneOf(AccessFlag.class);
    }

    private boolean isInline() {
        return queuePairs.getFirst().capabilities().maxInlineData() >= traffic.size()
                && !traffic.has(Feature.DEVICE_MEMORY);
    }

    /** {@return the addresses of this side, one for each queue pair} */
    List<QueuePairAddress> addresses() {
        return addresses;
    }

    /** {@return what the side channel sends: the addresses, filled up with unused ones} */
    List<QueuePairAddress> sentAddresses() {
        List<QueuePairAddress> sent = new ArrayList<>(addresses);
        while (sent.size() < traffic.addresses()) {
            sent.add(QueuePairAddress.NONE);
        }
        return sent;
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

    List<QueuePair> queuePairs() {
        return queuePairs;
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
    void connect(List<QueuePairAddress> remote) throws IOException {
        checkNumber(remote);
        for (int i = 0; i < queuePairs.size(); i++) {
            connect(queuePairs.get(i), addresses.get(i), remote.get(i));
        }
    }

    private void checkNumber(List<QueuePairAddress> remote) throws IOException {
        long number = remote.stream().filter(address -> address.number() != 0).count();
        if (number != queuePairs.size()) {
            throw new IOException("the peer has " + number + " queue pairs, this side "
                    + queuePairs.size() + "; both need the same -q");
        }
    }

    private void connect(QueuePair queuePair, QueuePairAddress own, QueuePairAddress remote)
            throws IOException {
        if (traffic.isDatagrams()) {
            AddressHandle handle = port.connectDatagrams(queuePair, own, remote);
            open.add(handle::close);
            send.to(handle, remote.number(), LocalPort.QKEY);
        } else {
            port.connect(queuePair, own, remote, traffic.mtu(), RELIABLE);
        }
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
        if (!traffic.has(Feature.NEW_SEND)) {
            queuePair.postSend(send);
            return;
        }
        try (SendBatch batch = queuePair.startBatch()) {
            batch.id(SEND_ID).flags(SendFlag.SIGNALED).send().add(buffer.region(),
                    traffic.headerLength(), traffic.size());
            batch.post();
        }
    }

    @Override
    public void close() throws RdmaException {
        open.close();
    }
}
