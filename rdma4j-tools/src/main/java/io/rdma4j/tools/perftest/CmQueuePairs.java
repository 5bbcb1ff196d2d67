// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.tools.timing.Pause;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Queue pairs that the connection manager connects, one after the other, each with an id of its own.
 *
 * <p>A C server listens only after it has told its peer to connect, so a client whose request is rejected because no program
 * listens tries again.
 */
final class CmQueuePairs implements AutoCloseable {
    private static final int TRIES = 10;
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
    private static final int RETRIES = 7;
    private static final int RNR_TIMER = 12;

    private final Plan plan;
    private final CmRendezvous rendezvous;
    private final @Nullable Mtu mtu;
    /** In the order of the queue pairs. The first is there before its queue pair, for it tells the device. */
    private final List<CmId> ids = new ArrayList<>();
    private final List<@Nullable DatagramDestination> destinations = new ArrayList<>();
    private int connected;

    /**
     * It stays open as long.
     *
     * @param mtu the path MTU that a client asks for; null for the largest that is possible
     */
    CmQueuePairs(Plan plan, CmRendezvous rendezvous, @Nullable Mtu mtu) {
        this.plan = plan;
        this.rendezvous = rendezvous;
        this.mtu = mtu;
    }

    /** Finds the device: the server waits for its client, the client for a route. */
    DeviceContext open() throws IOException {
        ids.add(rendezvous.next(plan));
        return ids.getFirst().context();
    }

    /**
     * {@return a queue pair that is connected to one of the peer}
     *
     * @param outstanding READs and atomics under way at a time, at most
     */
    QueuePair connect(int index, ProtectionDomain domain, QueuePairInitAttributes attributes,
            int outstanding) throws IOException {
        if (index == ids.size()) {
            ids.add(rendezvous.next(plan));
        }
        QueuePair queuePair = rendezvous.isServer()
                ? accept(ids.get(index), domain, attributes, outstanding)
                : ask(index, domain, attributes, outstanding);
        connected++;
        if (!plan.isDatagrams()) {
            queuePair.modify(new QueuePairAttributes().minRnrTimerCode(RNR_TIMER));
        }
        return queuePair;
    }

    /** {@return who the datagrams of a queue pair go to; null if it sends none} */
    @Nullable
    DatagramDestination destination(int index) {
        return destinations.get(index);
    }

    private QueuePair accept(CmId id, ProtectionDomain domain, QueuePairInitAttributes attributes,
            int outstanding) throws IOException {
        QueuePair queuePair = id.createQueuePair(domain, attributes);
        if (!plan.isDatagrams()) {
            id.ackTimeoutExponent(plan.timeout());
            id.accept(parameters(outstanding));
        } else if (plan.isServerSending()) {
            destinations.add(greeted(id, domain, queuePair));
        } else {
            destinations.add(null);
            id.accept(parameters(0));
        }
        return queuePair;
    }

    private DatagramDestination greeted(CmId id, ProtectionDomain domain, QueuePair queuePair)
            throws IOException {
        try (DatagramGreeting greeting = new DatagramGreeting(domain, queuePair,
                rendezvous.patience())) {
            greeting.expect();
            id.accept(parameters(0));
            return greeting.greeted(id.devicePort(), queuePair.query().qkey());
        }
    }

    /** Learns who the server's queue pair is, and tells it who asks if it has to answer. */
    private void greet(CmId id, ProtectionDomain domain, QueuePair queuePair)
            throws IOException {
        CmEvent answer = Objects.requireNonNull(id.event(), "connecting has left an event");
        DatagramParameters service = Objects.requireNonNull(answer.datagram());
        DatagramDestination server = new DatagramDestination(
                domain.createAddressHandle(service.path()),
                service.queuePairNumber(), service.qkey());
        destinations.add(server);
        if (plan.isServerSending()) {
            try (DatagramGreeting greeting = new DatagramGreeting(domain, queuePair,
                    rendezvous.patience())) {
                greeting.greet(server);
            }
        }
    }

    private QueuePair ask(int index, ProtectionDomain domain, QueuePairInitAttributes attributes,
            int outstanding) throws IOException {
        for (int left = TRIES - 1;; left--) {
            CmId id = ids.get(index);
            try {
                QueuePair queuePair = id.createQueuePair(domain, attributes);
                id.pathMtu(mtu);
                id.connect(parameters(outstanding));
                if (plan.isDatagrams()) {
                    greet(id, domain, queuePair);
                }
                return queuePair;
            } catch (RdmaException e) {
                if (e.errno() != Errno.ECONNREFUSED || left == 0) {
                    throw e;
                }
            }
            id.close();
            Pause.of(BETWEEN_TRIES);
            ids.set(index, rendezvous.next(plan));
        }
    }

    /** Who asks and who answers use the smaller depth; nothing is under way where nothing is answered. */
    private ConnectionParameters parameters(int outstanding) {
        int depth = plan.verb().isAnswered() ? outstanding : 0;
        return new ConnectionParameters().responderResources(depth).initiatorDepth(depth)
                .retryCount(RETRIES).rnrRetryCount(RETRIES);
    }

    /** Ends the connections, which a C client waits for, and frees the queue pairs. */
    @Override
    public void close() throws RdmaException {
        while (connected > 0) {
            connected--;
            if (!plan.isDatagrams()) {
                ids.get(connected).disconnect();
            }
        }
        while (!destinations.isEmpty()) {
            DatagramDestination destination = destinations.removeLast();
            if (destination != null) {
                destination.handle().close();
            }
        }
        while (!ids.isEmpty()) {
            ids.getLast().close();
            ids.removeLast();
        }
    }
}
