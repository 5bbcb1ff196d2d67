package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.ArrayList;
import java.util.List;

/** A TCP port of one address of a device, or of all of them. For the engine's owner. */
final class IwarpListener implements CmListener {
    private final CmContext via;
    private final TransportHost host;
    private final Handler handler;
    private final int backlog;
    private final List<StreamListener> listeners = new ArrayList<>();
    private int unanswered;

    private IwarpListener(CmContext via, TransportHost host, int backlog, Handler handler) {
        this.via = via;
        this.host = host;
        this.backlog = backlog;
        this.handler = handler;
    }

    /** Begins to listen. */
    static IwarpListener start(IwarpLink link, TransportHost host, CmContext via,
            ListenRequest request, Handler handler) throws RdmaException {
        IwarpListener listener = new IwarpListener(via, host, request.backlog(), handler);
        boolean isStarted = false;
        try {
            for (InetAddress address : addresses(host, request)) {
                listener.listeners.add(link.network().listen(
                        new InetSocketAddress(address, request.port()), request.backlog(),
                        stream -> new ResponderConnection(link, host, stream, listener)));
            }
            isStarted = true;
            return listener;
        } finally {
            if (!isStarted) {
                listener.listeners.forEach(StreamListener::close);
            }
        }
    }

    private static List<InetAddress> addresses(TransportHost host, ListenRequest request) {
        InetAddress only = request.address();
        if (only != null) {
            return List.of(only);
        }
        return host.gids().stream().filter(gid -> !gid.isZero()).map(Gid::address)
                .filter(address -> isServed(address, request)).toList();
    }

    private static boolean isServed(InetAddress address, ListenRequest request) {
        StandardProtocolFamily family = request.family();
        return family == null
                || (address instanceof Inet4Address) == (family == StandardProtocolFamily.INET);
    }

    /** {@return whether one more request may wait for its answer} */
    boolean takePlace() {
        if (unanswered >= backlog) {
            return false;
        }
        unanswered++;
        return true;
    }

    /** A request was answered, or has been withdrawn. */
    void leavePlace() {
        unanswered--;
    }

    /** Tells the application of a request. {@return who hears what becomes of it} */
    CmConnection.Handler ask(IwarpConnection request, InetSocketAddress local,
            InetSocketAddress peer, ConnectionParameters parameters) {
        return handler.onRequest(via, request, local, peer, parameters);
    }

    @Override
    public void close() {
        host.driver().run(nowNs -> {
            listeners.forEach(StreamListener::close);
            listeners.clear();
        });
    }
}
