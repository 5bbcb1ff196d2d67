package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.verbs.RdmaException;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
            for (InetAddress address : listener.addresses()) {
                listener.listenAt(address);
            }
            link.addListener(listener);
            isStarted = true;
            return listener;
        } finally {
            if (!isStarted) {
                listener.stop();
            }
        }
    }

    private List<InetAddress> addresses() {
        InetAddress only = request.address();
        return only == null
                ? host.gids().stream().filter(gid -> !gid.isZero()).map(host::addressOf)
                        .filter(this::isServed).toList()
                : List.of(only);
    }

    private boolean isServed(InetAddress address) {
        StandardProtocolFamily family = request.family();
        return family == null
                || (address instanceof Inet4Address) == (family == StandardProtocolFamily.INET);
    }

    private void listenAt(InetAddress address) throws RdmaException {
        listeners.put(address,
                link.network().listen(new InetSocketAddress(
                        AddressScope.on(address, via.device().index()), request.port()),
                        ACCEPT_QUEUE,
                        stream -> new ResponderConnection(link, host, stream, this)));
    }

    /** The device has got an address. */
    void onAddressHeld(InetAddress address) {
        if (request.address() != null || !isServed(address) || listeners.containsKey(address)) {
            return;
        }
        try {
            listenAt(address);
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING, "nobody can connect to {0}: {1}", address,
                    e.getMessage());
        }
    }

    /** The device has lost an address. */
    void onAddressReleased(InetAddress address) {
        StreamListener listener = listeners.remove(address);
        if (listener != null) {
            listener.close();
        }
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
