// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.endpoint.Establishment;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;

/** How a server and its one client get in touch by the connection manager. */
final class CmRendezvous implements AutoCloseable {
    private static final Duration RESOLVE = Duration.ofSeconds(2);
    /** How soon a server that waits for a request notices that its client has given up. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final Place own;
    private final @Nullable InetSocketAddress server;
    private final @Nullable CmId listener;
    /** Of datagram queue pairs, which are in another port space than the conversation. */
    private final @Nullable CmId datagramListener;
    private final Duration patience;
    /** Where a client has met its server, from where its queue pairs go there too. */
    private Place met;
    /** Of a server that has met its client. */
    private @Nullable CmExchange conversation;

    private CmRendezvous(Place own, @Nullable InetSocketAddress server,
            @Nullable CmId listener, @Nullable CmId datagramListener, Duration patience) {
        this.own = own;
        met = own;
        this.server = server;
        this.listener = listener;
        this.datagramListener = datagramListener;
        this.patience = patience;
    }

    /**
     * {@return a server, which listens from now on}
     *
     * @param own where it can be reached
     * @param port 0 for any
     * @param plan tells how many connections may be asked for at once, and of which service
     */
    static CmRendezvous listen(Place own, int port, Plan plan, Duration patience)
            throws RdmaException {
        CmId listener = listen(PortSpace.TCP, own, port, plan);
        if (!plan.isDatagrams()) {
            return new CmRendezvous(own, null, listener, null, patience);
        }
        try {
            return new CmRendezvous(own, null, listener,
                    listen(PortSpace.UDP, own, listener.localAddress().getPort(), plan), patience);
        } catch (RdmaException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    private static CmId listen(PortSpace space, Place own, int port, Plan plan)
            throws RdmaException {
        CmId listener = id(space, own);
        try {
            InetAddress address = own.address();
            listener.bindAddress(address == null
                    ? new InetSocketAddress(port)
                    : new InetSocketAddress(address, port));
            listener.listen(plan.queuePairs());
            return listener;
        } catch (RdmaException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    private static CmId id(PortSpace space, Place own) throws RdmaException {
        CmId id = CmId.create(space);
        String device = own.device();
        if (device != null) {
            try {
                id.device(device);
            } catch (RdmaException | RuntimeException e) {
                id.close();
                throw e;
            }
        }
        return id;
    }

    /**
     * {@return a client of a server}
     *
     * @param own from where; without an address from that of the route
     */
    static CmRendezvous with(String host, int port, Place own, Duration patience)
            throws IOException {
        return new CmRendezvous(own, new InetSocketAddress(address(host, own.address()), port),
                null, null, patience);
    }

    private static InetAddress address(String host, @Nullable InetAddress own)
            throws IOException {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                if (own == null || address.getClass() == own.getClass()) {
                    return address;
                }
            }
        } catch (UnknownHostException e) {
            throw new IOException("unknown host '" + host + "'", e);
        }
        throw new IOException(host + " has no address of the IP version of "
                + (own == null ? "any device" : own.getHostAddress())
                + "; choose another GID with -x");
    }

    /** {@return the port of a server} */
    int port() {
        return listener == null ? 0 : listener.localAddress().getPort();
    }

    /** {@return the conversation with the peer; a server waits for its client for ever} */
    CmExchange exchange(Plan plan) throws IOException {
        if (listener != null) {
            conversation = CmExchange.accept(listener.awaitRequest(), patience);
            return conversation;
        }
        try {
            CmExchange exchange = plan.isOfAnyTransport()
                    ? Establishment.of(reached -> meet(plan))
                    : meet(plan);
            met = new Place(exchange.context().device().name(), own.address());
            return exchange;
        } catch (RdmaException e) {
            InetSocketAddress towards = requireServer();
            throw new IOException("Couldn't connect to " + towards.getHostString() + ":"
                    + towards.getPort() + ": " + e.getMessage(), e);
        }
    }

    private CmExchange meet(Plan plan) throws RdmaException {
        return CmExchange.connect(resolved(PortSpace.TCP, plan), patience);
    }

    /** {@return how long to wait for the peer} */
    Duration patience() {
        return patience;
    }

    /** {@return whether this side is asked for connections} */
    boolean isServer() {
        return listener != null;
    }

    /** {@return the id of one more connection: a server's stands for a request, a client's has found its way} */
    CmId next(Plan plan) throws IOException {
        CmId listening = plan.isDatagrams() ? datagramListener : listener;
        if (listening == null) {
            return resolved(plan.isDatagrams() ? PortSpace.UDP : PortSpace.TCP, plan);
        }
        CmId id = request(listening);
        if (id == null) {
            InetSocketAddress at = listening.localAddress();
            InetAddress address = own.address();
            throw new IOException("the peer asks for no connection at "
                    + (address == null ? "" : address.getHostAddress() + " ") + "port "
                    + at.getPort()
                    + "; does it use -R, too?");
        }
        return id;
    }

    /** {@return a request; null if none comes while the patience lasts} */
    private @Nullable CmId request(CmId listening) throws IOException {
        long untilNs = System.nanoTime() + patience.toNanos();
        CmId id = listening.pollRequest(BETWEEN_LOOKS);
        while (id == null && System.nanoTime() - untilNs < 0) {
            if (conversation != null && conversation.isPeerGone()) {
                throw Exchange.goneAway();
            }
            id = listening.pollRequest(BETWEEN_LOOKS);
        }
        return id;
    }

    private CmId resolved(PortSpace space, Plan plan) throws RdmaException {
        CmId id = id(space, met);
        try {
            InetAddress address = own.address();
            if (address == null) {
                id.resolveAddress(requireServer(), RESOLVE);
            } else {
                id.resolveAddress(new InetSocketAddress(address, 0), requireServer(), RESOLVE);
            }
            if (space == PortSpace.TCP) {
                id.ackTimeoutExponent(plan.timeout());
            }
            id.resolveRoute(RESOLVE);
            return id;
        } catch (RdmaException | RuntimeException e) {
            id.close();
            throw e;
        }
    }

    private InetSocketAddress requireServer() {
        InetSocketAddress known = server;
        if (known == null) {
            throw new IllegalStateException("a server asks nobody for a connection");
        }
        return known;
    }

    @Override
    public void close() throws RdmaException {
        try (CmId _ = datagramListener; CmId _ = listener) {
            // Both, though one fails.
        }
    }
}
