// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The requests that have reached a listening id, until the application takes them. */
final class ListenBacklog {
    private final IdExchange.Kind kind;
    private final IdStateMachine states;
    private final IdChannel events;
    private final IdAddresses addresses;
    private final IdOptions options;
    private final Supplier<Incoming> newId;
    private final DeviceListeners listeners;
    /** Requests that no thread has taken, and their events; also the lock of its changes. */
    private final Map<CmId, IdChannel> waiting = new LinkedHashMap<>();
    /** Guarded by {@link #waiting}. */
    private boolean isClosed;

    /** A new id for a request, and its parts. */
    record Incoming(CmId id, IdStateMachine states, IdChannel events, IdAddresses addresses,
            IdExchange exchange) {}

    /** @param newId creates an id for a request, with the channel of the listener, or synchronous like it */
    ListenBacklog(IdExchange.Kind kind, IdStateMachine states, IdChannel events,
            IdAddresses addresses, IdOptions options, Supplier<Incoming> newId) {
        this.kind = kind;
        this.states = states;
        this.events = events;
        this.addresses = addresses;
        this.options = options;
        this.newId = newId;
        listeners = new DeviceListeners(addresses, events, options, starter());
    }

    /** Listens with the id's address. */
    void listen(int backlog) throws RdmaException {
        states.require(IdStep.LISTEN, "listen");
        try {
            listeners.start(spec(addresses.local("listen"), backlog));
        } catch (RdmaException | RuntimeException e) {
            listeners.stop();
            states.take(IdStep.LISTEN_FAILED);
            throw e;
        }
    }

    private DeviceListeners.Starter starter() {
        boolean isDatagram = kind.type() == QueuePairType.UD;
        return new DeviceListeners.Starter() {
            @Override
            public void check(DeviceLease device) throws RdmaException {
                if (isDatagram) {
                    IdDatagram.services(device, "listen");
                }
            }

            @Override
            public CmListener listen(DeviceLease device, ListenRequest spec) throws RdmaException {
                return isDatagram
                        ? IdDatagram.services(device, "listen").listen(spec,
                                new Lookups())
                        : device.context().listen(spec, new Requests());
            }
        };
    }

    private ListenRequest spec(InetSocketAddress bound, int backlog) {
        InetAddress address = bound.getAddress();
        StandardProtocolFamily family = address instanceof Inet4Address
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6;
        return new ListenRequest(kind.space(), kind.type(), bound.getPort(), null,
                address.isAnyLocalAddress() ? null : address,
                options.addressFamilyOnly() ? family : null, backlog, null);
    }

    List<InetSocketAddress> addresses() {
        InetSocketAddress bound = addresses.local();
        return states.is(IdState.LISTENING) && bound != null
                ? listeners.addresses(bound, options.addressFamilyOnly())
                : List.of();
    }

    // ---------------------------------------------------------------- in the thread that drives the device

    private final class Requests implements CmListener.Handler {
        @Override
        public CmConnection.Handler onRequest(CmContext via, CmConnection request,
                InetSocketAddress to, InetSocketAddress from, ConnectionParameters parameters) {
            return ListenBacklog.this.onRequest(via, request, to, from, parameters);
        }

        @Override
        public void onUnknownEvent(int typeCode, int status) {
            events.publishUnknown(typeCode, status);
        }
    }

    private final class Lookups implements CmLookupRequest.Handler {
        @Override
        public void onRequest(CmContext via, CmLookupRequest request, InetSocketAddress to,
                InetSocketAddress from, byte[] privateData) {
            onLookup(via, request, to, from, privateData);
        }

        @Override
        public void onUnknownEvent(int typeCode, int status) {
            events.publishUnknown(typeCode, status);
        }
    }

    private CmConnection.Handler onRequest(CmContext via, CmConnection request,
            InetSocketAddress to, InetSocketAddress from, ConnectionParameters parameters) {
        synchronized (waiting) {
            DeviceLease device = isClosed ? null : listeners.leaseOf(via);
            if (device != null) {
                Incoming incoming = newId.get();
                IdConnection connection = (IdConnection) incoming.exchange;
                connection.adopt(request, parameters);
                admit(incoming, device, to, from, parameters);
                return connection;
            }
        }
        // The listener was closed before the device was told to stop.
        request.close();
        return new Unused();
    }

    private void onLookup(CmContext via, CmLookupRequest request, InetSocketAddress to,
            InetSocketAddress from, byte[] privateData) {
        ConnectionParameters parameters = new ConnectionParameters().privateData(privateData);
        synchronized (waiting) {
            DeviceLease device = isClosed ? null : listeners.leaseOf(via);
            if (device != null) {
                Incoming incoming = newId.get();
                ((IdDatagram) incoming.exchange).adopt(request, parameters);
                admit(incoming, device, to, from, parameters);
                return;
            }
        }
        request.close();
    }

    /** Of a request that was refused at once. */
    private static final class Unused implements CmConnection.Handler {
        @Override
        public void onReply(CmConnection connection, ConnectionParameters parameters) {}

        @Override
        public void onEstablished(@Nullable ConnectionParameters parameters) {}

        @Override
        public void onRefused(Refusal refusal) {}

        @Override
        public void onUnreachable(Errno reason) {}

        @Override
        public void onDisconnected() {}

        @Override
        public void onTimewaitExit() {}
    }

    /**
     * Publishes a request with the id that was created for it. Both happen under one lock, so a listener that migrates
     * meanwhile moves both the id and its event.
     */
    private void admit(Incoming incoming, DeviceLease device, InetSocketAddress to,
            InetSocketAddress from, ConnectionParameters parameters) {
        incoming.addresses.adopt(to, from, device);
        incoming.states.take(IdStep.TAKE_REQUEST);
        waiting.put(incoming.id, incoming.events);
        events.publishRequest(incoming.events, parameters);
    }

    // ---------------------------------------------------------------- taking requests

    /** @throws RdmaException EINVAL unless the id is synchronous and listens, ENODEV if the device is gone */
    void requireSynchronousListener() throws RdmaException {
        if (states.is(IdState.REMOVED)) {
            throw states.wrong("await request");
        }
        if (!events.isSynchronous() || !states.is(IdState.LISTENING)) {
            throw new RdmaException(Errno.EINVAL, "await request",
                    "only a synchronous id that listens hands out requests; this one is "
                            + (events.isSynchronous()
                                    ? "in state " + states.now()
                                    : "asynchronous"));
        }
    }

    /** The application has taken the request, or it was closed. */
    void forget(CmId requested) {
        synchronized (waiting) {
            waiting.remove(requested);
        }
    }

    /** Moves the listener to another channel, with the requests that no thread has taken. */
    void migrate(@Nullable CmEventChannel channel) throws RdmaException {
        synchronized (waiting) {
            events.migrate(channel, waiting);
        }
    }

    /** Stops listening. {@return the requests that no thread has taken, to be closed} */
    List<CmId> close() {
        synchronized (waiting) {
            // First, so that a request that comes by a device of which the lease is given back is refused.
            isClosed = true;
        }
        listeners.close();
        synchronized (waiting) {
            List<CmId> untaken = List.copyOf(waiting.keySet());
            waiting.clear();
            return untaken;
        }
    }
}
