// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A TCP port of one address of a device, or of all that it has and gets. For the engine's owner. */
final class IwarpListener implements CmListener {
    private static final System.Logger LOG = System.getLogger(IwarpListener.class.getName());

    /**
     * The length of the system's queue of TCP connections that the device has not accepted yet. The application's backlog
     * limits only connections with a request. With a short queue, the system would drop connections of a burst, which costs
     * each a second.
     */
    private static final int ACCEPT_QUEUE = 1024;

    private final IwarpLink link;
    private final CmContext via;
    private final TransportHost host;
    private final ListenRequest request;
    private final Handler handler;
    private final Map<InetAddress, StreamListener> listeners = new HashMap<>();
    /** The addresses of the device where it cannot listen, with the reason that the log has been told. */
    private final Map<InetAddress, String> refused = new LinkedHashMap<>();
    private int unanswered;
    private boolean isClosed;

    private IwarpListener(IwarpLink link, TransportHost host, CmContext via,
            ListenRequest request, Handler handler) {
        this.link = link;
        this.via = via;
        this.host = host;
        this.request = request;
        this.handler = handler;
    }

    /** Begins to listen. */
    static IwarpListener start(IwarpLink link, TransportHost host, CmContext via,
            ListenRequest request, Handler handler) throws RdmaException {
        IwarpListener listener = new IwarpListener(link, host, via, request, handler);
        boolean isStarted = false;
        try {
            listener.listenAtAll();
            link.addListener(listener);
            isStarted = true;
            return listener;
        } finally {
            if (!isStarted) {
                listener.stop();
            }
        }
    }

    /**
     * At the wildcard address it begins with the addresses that it can have, and takes the others later.
     *
     * @throws RdmaException if it can have none, for a reason that does not pass by itself
     */
    private void listenAtAll() throws RdmaException {
        InetAddress only = request.address();
        if (only != null) {
            listenAt(only);
            return;
        }
        RdmaException lasting = null;
        for (InetAddress address : addresses()) {
            try {
                listenAt(address);
            } catch (RdmaException e) {
                lasting = isOfAMoment(e.errno()) ? lasting : e;
                refused(address, e);
            }
        }
        if (listeners.isEmpty() && lasting != null) {
            throw lasting;
        }
    }

    /** {@return whether an address is tried out, or has gone with its interface since the device looked} */
    private static boolean isOfAMoment(Errno reason) {
        return reason == Errno.EADDRNOTAVAIL || reason == Errno.ENODEV;
    }

    private List<InetAddress> addresses() {
        return host.gids().stream().filter(gid -> !gid.isZero()).map(host::addressOf)
                .filter(this::isServed).toList();
    }

    /** {@return whether it is for an address that its device has, or may have later} */
    private boolean isServed(InetAddress address) {
        InetAddress only = request.address();
        if (only != null) {
            return only.equals(address);
        }
        StandardProtocolFamily family = request.family();
        return family == null
                || (address instanceof Inet4Address) == (family == StandardProtocolFamily.INET);
    }

    private void listenAt(InetAddress address) throws RdmaException {
        listeners.put(address,
                link.network().listen(new InetSocketAddress(scoped(address), request.port()),
                        ACCEPT_QUEUE,
                        stream -> new ResponderConnection(link, host, stream, this)));
    }

    /** {@return an address of the link with the interface that it belongs to} */
    private InetAddress scoped(InetAddress address) {
        return AddressScope.on(address, via.device().index());
    }

    private void refused(InetAddress address, RdmaException reason) {
        if (!Objects.equals(refused.put(address, reason.detail()), reason.detail())) {
            LOG.log(System.Logger.Level.WARNING, "nobody can connect to {0} port {1,number,#}: {2}",
                    scoped(address).getHostAddress(), request.port(), reason.detail());
        }
    }

    /** The device has got an address. */
    void onAddressHeld(InetAddress address) {
        if (isServed(address) && !listeners.containsKey(address)) {
            tryToListenAt(address);
        }
    }

    private void tryToListenAt(InetAddress address) {
        try {
            listenAt(address);
        } catch (RdmaException e) {
            refused(address, e);
            return;
        }
        if (refused.remove(address) != null) {
            LOG.log(System.Logger.Level.INFO, "{0} port {1,number,#} can be connected to now",
                    scoped(address).getHostAddress(), request.port());
        }
    }

    /** The device has lost an address. */
    void onAddressReleased(InetAddress address) {
        refused.remove(address);
        StreamListener listener = listeners.remove(address);
        if (listener != null) {
            listener.close();
        }
    }

    /** {@return whether there are addresses where it wants to listen and cannot} */
    boolean hasRefused() {
        return !refused.isEmpty();
    }

    /** Tries again where it could not listen. */
    void tryAgain() {
        List.copyOf(refused.keySet()).forEach(this::tryToListenAt);
    }

    /** {@return whether there is room for another request that waits for its answer} */
    boolean takePlace() {
        if (isClosed || unanswered >= request.backlog()) {
            return false;
        }
        unanswered++;
        return true;
    }

    /** A request was answered, or has been withdrawn. */
    void leavePlace() {
        unanswered--;
    }

    /** Notifies the application of a request. {@return the handler of its events} */
    CmConnection.Handler ask(IwarpConnection asking, InetSocketAddress local,
            InetSocketAddress peer, ConnectionParameters parameters) {
        return handler.onRequest(via, asking, local, peer, parameters);
    }

    private void stop() {
        listeners.values().forEach(StreamListener::close);
        listeners.clear();
        refused.clear();
    }

    @Override
    public void close() {
        host.driver().run(nowNs -> {
            isClosed = true;
            link.removeListener(this);
            stop();
        });
    }
}
