// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.CallOrders.Cell;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * One id, brought to a state, and the answer to one call. The states and calls are those of {@code interop/cm_orders.c}, which
 * asks the same of librdmacm.
 */
final class CallOrderStage implements AutoCloseable {
    private static final Duration RESOLUTION = Duration.ofSeconds(2);
    /** For an id without a device, which cannot have one. */
    private static final int NO_QUEUE_PAIR = 17;
    /** TEST-NET-1 of RFC 5737, which no device under test leads to. */
    private static final InetSocketAddress NOWHERE = new InetSocketAddress(
            InetAddress.ofLiteral("192.0.2.1"), 7471);
    private static final InetSocketAddress WILDCARD = new InetSocketAddress(
            InetAddress.ofLiteral("0.0.0.0"), 0);

    private final DeviceUnderTest device;
    private final PortSpace space;
    private final Deque<Closing> kept = new ArrayDeque<>();
    private final CmEventChannel active;
    private final CmEventChannel passive;
    private final CmEventChannel other;
    private final CmId listener;
    private final Set<CmId> withQueuePair = new HashSet<>();

    CallOrderStage(DeviceUnderTest device, PortSpace space) throws RdmaException {
        this.device = device;
        this.space = space;
        active = keep(CmEventChannel.create());
        passive = keep(CmEventChannel.create());
        other = keep(CmEventChannel.create());
        listener = newId(passive);
        listener.bindAddress(anyPort());
        listener.listen(0);
    }

    /** What ends an object. */
    private interface Closing {
        void close() throws RdmaException;
    }

    private CmEventChannel keep(CmEventChannel channel) {
        kept.push(channel::close);
        return channel;
    }

    private CmId keep(CmId id) {
        kept.push(id::close);
        return id;
    }

    @Override
    public void close() throws RdmaException {
        while (!kept.isEmpty()) {
            kept.pop().close();
        }
    }

    // ---------------------------------------------------------------- the answer

    /** {@return what became of the call of a cell in its state, in the words of the table} */
    String answer(Cell cell) throws RdmaException {
        CmId id = reached(cell.state());
        try {
            call(id, cell.call());
        } catch (RdmaException refused) {
            return refused.errno().name();
        } catch (IllegalStateException refused) {
            return "IllegalStateException";
        }
        return cell.hasEvent() ? "ok " + event(id, cell.isQuiet()) : "ok";
    }

    /** {@return the next event of an id; none, if none is there when the id says so itself} */
    private static String event(CmId id, boolean isQuiet) throws RdmaException {
        if (isQuiet) {
            id.writeEvent(0, 0);
        }
        try (CmEvent event = next(id.channel())) {
            assertThat(event.id()).isSameAs(id);
            return event.type() == CmEventType.USER ? "-" : event.type().name();
        }
    }

    // ---------------------------------------------------------------- events

    /** The end of time-wait comes when it comes. */
    private static CmEvent next(CmEventChannel channel) throws RdmaException {
        CmEvent event = channel.pollEvent(UnderTest.LIMIT);
        while (event != null && event.type() == CmEventType.TIMEWAIT_EXIT) {
            event.close();
            event = channel.pollEvent(UnderTest.LIMIT);
        }
        return event == null ? fail("no event came") : event;
    }

    private static void expect(CmEventChannel channel, CmEventType type) throws RdmaException {
        try (CmEvent event = next(channel)) {
            assertThat(event.type()).as(event.toString()).isEqualTo(type);
        }
    }

    // ---------------------------------------------------------------- states

    /** Both ends of a connection that is being made. */
    private record Pair(CmId active, CmId passive) {}

    private CmId reached(String state) throws RdmaException {
        return switch (state) {
            case "fresh" -> newId(active);
            case "bound" -> bound(anyPort());
            case "bound_any" -> bound(WILDCARD);
            case "listening" -> listening();
            case "unresolved" -> unresolved();
            case "address_resolved" -> addressResolved();
            case "route_resolved" -> routeResolved();
            case "ready" -> ready();
            case "connecting" -> requested(true).active;
            case "request" -> requested(true).passive;
            case "request_ready" -> withQueuePair(requested(true).passive);
            case "response" -> answered().active;
            case "accepted" -> answered().passive;
            case "established" -> established().active;
            case "established_passive" -> established().passive;
            case "disconnected" -> disconnected().active;
            case "disconnected_by_peer" -> disconnected().passive;
            case "rejected" -> rejected().active;
            case "rejecting" -> rejected().passive;
            default -> throw new IllegalArgumentException("no state is named " + state);
        };
    }

    private CmId newId(CmEventChannel channel) throws RdmaException {
        CmId id = keep(CmId.create(channel, space));
        String chosen = device.chosenDevice();
        if (chosen != null) {
            id.device(chosen);
        }
        return id;
    }

    private InetSocketAddress anyPort() throws RdmaException {
        return new InetSocketAddress(device.connectionAddress(), 0);
    }

    private CmId bound(InetSocketAddress address) throws RdmaException {
        CmId id = newId(active);
        id.bindAddress(address);
        return id;
    }

    private CmId listening() throws RdmaException {
        CmId id = bound(anyPort());
        id.listen(0);
        return id;
    }

    private CmId unresolved() throws RdmaException {
        CmId id = newId(active);
        id.device(device.device().name());
        id.resolveAddress(NOWHERE, RESOLUTION);
        expect(active, CmEventType.ADDR_ERROR);
        return id;
    }

    private CmId addressResolved() throws RdmaException {
        CmId id = newId(active);
        id.resolveAddress(listener.localAddress(), RESOLUTION);
        expect(active, CmEventType.ADDR_RESOLVED);
        return id;
    }

    private CmId routeResolved() throws RdmaException {
        CmId id = addressResolved();
        id.resolveRoute(RESOLUTION);
        expect(active, CmEventType.ROUTE_RESOLVED);
        return id;
    }

    private CmId ready() throws RdmaException {
        return withQueuePair(routeResolved());
    }

    private CmId withQueuePair(CmId id) throws RdmaException {
        id.createQueuePair(new QueuePairInitAttributes());
        withQueuePair.add(id);
        return id;
    }

    private ConnectionParameters parameters(CmId id) throws RdmaException {
        return new ConnectionParameters()
                .queuePairNumber(withQueuePair.contains(id) ? 0 : otherQueuePair(id));
    }

    /** {@return the number of a queue pair of the program's own, of which the id knows only that} iWARP looks for it. */
    private int otherQueuePair(CmId id) throws RdmaException {
        if (id.devicePort() == 0) {
            return NO_QUEUE_PAIR;
        }
        CompletionQueue completions = id.context().createCompletionQueue(8);
        kept.push(completions::close);
        QueuePair queuePair = id.protectionDomain().createQueuePair(new QueuePairInitAttributes()
                .type(id.queuePairType()).completionQueue(completions));
        kept.push(queuePair::close);
        if (device.run().profile().transport() == TransportType.IWARP) {
            bringUp(queuePair, id);
        }
        return queuePair.number();
    }

    /** Nothing is tested of it: where the id is in a wrong state, the queue pair stays as it is. */
    private static void bringUp(QueuePair queuePair, CmId id) throws RdmaException {
        QueuePairAttributes attributes;
        try {
            attributes = id.initQueuePairAttributes(QueuePairState.INIT);
        } catch (RdmaException wrongState) {
            return;
        }
        queuePair.modify(attributes);
    }

    private Pair requested(boolean hasQueuePair) throws RdmaException {
        CmId from = hasQueuePair ? ready() : routeResolved();
        from.connect(parameters(from));
        try (CmEvent request = next(passive)) {
            assertThat(request.type()).isEqualTo(CmEventType.CONNECT_REQUEST);
            return new Pair(from, keep(request.id()));
        }
    }

    private Pair accepted(boolean hasQueuePair) throws RdmaException {
        Pair pair = requested(hasQueuePair);
        withQueuePair(pair.passive);
        pair.passive.accept(parameters(pair.passive));
        return pair;
    }

    /** The active side has no queue pair of its own. */
    private Pair answered() throws RdmaException {
        Pair pair = accepted(false);
        if (device.run().profile().transport() == TransportType.IWARP) {
            // The answer establishes.
            expect(active, CmEventType.ESTABLISHED);
            expect(passive, CmEventType.ESTABLISHED);
        } else {
            expect(active, CmEventType.CONNECT_RESPONSE);
        }
        return pair;
    }

    private Pair established() throws RdmaException {
        Pair pair = accepted(true);
        expect(active, CmEventType.ESTABLISHED);
        if (space == PortSpace.TCP) {
            expect(passive, CmEventType.ESTABLISHED);
        }
        return pair;
    }

    private Pair disconnected() throws RdmaException {
        Pair pair = established();
        pair.active.disconnect();
        expect(passive, CmEventType.DISCONNECTED);
        expect(active, CmEventType.DISCONNECTED);
        return pair;
    }

    private Pair rejected() throws RdmaException {
        Pair pair = requested(true);
        pair.passive.reject(new byte[0]);
        expect(active, space == PortSpace.UDP ? CmEventType.UNREACHABLE : CmEventType.REJECTED);
        return pair;
    }

    // ---------------------------------------------------------------- calls

    private void call(CmId id, String call) throws RdmaException {
        switch (call) {
            case "bind_addr" -> id.bindAddress(anyPort());
            case "bind_addr_any" -> id.bindAddress(WILDCARD);
            case "resolve_addr" -> id.resolveAddress(listener.localAddress(), RESOLUTION);
            case "resolve_addr_from" ->
                id.resolveAddress(anyPort(), listener.localAddress(), RESOLUTION);
            case "resolve_route" -> id.resolveRoute(RESOLUTION);
            case "create_qp" -> id.createQueuePair(new QueuePairInitAttributes());
            case "destroy_qp" -> id.closeQueuePair();
            case "listen" -> id.listen(0);
            case "get_request" -> id.pollRequest(Duration.ZERO);
            case "connect" -> id.connect(parameters(id));
            case "accept" -> id.accept(parameters(id));
            case "reject" -> id.reject(new byte[0]);
            case "establish" -> id.establish();
            case "notify" -> id.communicationEstablished();
            case "disconnect" -> id.disconnect();
            case "migrate_id" -> id.migrate(other);
            case "tos" -> id.typeOfService(32);
            case "reuseaddr" -> id.reuseAddress(true);
            case "reuseaddr_off" -> id.reuseAddress(false);
            case "afonly" -> id.addressFamilyOnly(true);
            case "ack_timeout" -> id.ackTimeoutExponent(18);
            case "join_multicast" -> id.joinMulticast(device.multicastAddress());
            case "leave_multicast" -> id.leaveMulticast(device.multicastAddress());
            case "init_qp_attr_init" -> id.initQueuePairAttributes(QueuePairState.INIT);
            case "init_qp_attr_rtr" -> id.initQueuePairAttributes(QueuePairState.RTR);
            case "init_qp_attr_rts" -> id.initQueuePairAttributes(QueuePairState.RTS);
            case "destroy_id" -> id.close();
            default -> throw new IllegalArgumentException("no call is named " + call);
        }
    }
}
