// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.observe.registry.ShownBean;
import io.rdma4j.sockets.observe.jfr.SocketEvents;
import io.rdma4j.sockets.observe.jmx.DatagramSocketData;
import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.observe.jmx.SocketListenerData;
import io.rdma4j.sockets.observe.jmx.SocketsMXBean;
import org.jspecify.annotations.Nullable;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.SequencedSet;

/** The connections, listeners and datagram endpoints of the process, which JMX shows while there are any. Thread safe. */
final class OpenSockets implements SocketsMXBean {
    private static final String TYPE = "Sockets";
    private static final String PROPERTY = "rdma4j.sockets.open";

    /** A connection. */
    interface Stream {
        /** {@return what JMX shows, null if everything is freed} */
        @Nullable
        SocketConnectionData data();
    }

    /** A listener. */
    interface Listener {
        /** {@return what JMX shows} */
        SocketListenerData data();
    }

    /** A datagram endpoint. */
    interface Datagrams {
        /** {@return what JMX shows, null if everything is freed} */
        @Nullable
        DatagramSocketData data();
    }

    /** Guarded by this. */
    private final SequencedSet<Stream> connections = new LinkedHashSet<>();
    private final SequencedSet<Listener> listeners = new LinkedHashSet<>();
    private final SequencedSet<Datagrams> datagrams = new LinkedHashSet<>();
    private @Nullable ShownBean shown;

    synchronized void add(Stream connection) {
        connections.add(connection);
        show();
    }

    synchronized void add(Listener listener) {
        listeners.add(listener);
        show();
    }

    synchronized void add(Datagrams endpoint) {
        datagrams.add(endpoint);
        show();
    }

    private void show() {
        if (shown == null) {
            SocketEvents.prepare();
            shown = ShownBean.show(this, TYPE, PROPERTY);
        }
    }

    /** Idempotent. */
    synchronized void remove(Stream connection) {
        connections.remove(connection);
        hideIfEmpty();
    }

    /** Idempotent. */
    synchronized void remove(Listener listener) {
        listeners.remove(listener);
        hideIfEmpty();
    }

    /** Idempotent. */
    synchronized void remove(Datagrams endpoint) {
        datagrams.remove(endpoint);
        hideIfEmpty();
    }

    private void hideIfEmpty() {
        boolean isEmpty = connections.isEmpty() && listeners.isEmpty() && datagrams.isEmpty();
        if (shown != null && isEmpty) {
            shown.hide();
            shown = null;
            SocketEvents.forget();
        }
    }

    @Override
    public synchronized int getConnectionCount() {
        return connections.size();
    }

    @Override
    public synchronized int getListenerCount() {
        return listeners.size();
    }

    @Override
    public List<SocketConnectionData> getConnections() {
        List<Stream> now;
        synchronized (this) {
            now = List.copyOf(connections);
        }
        // Outside: a connection takes its own lock first.
        return now.stream().map(Stream::data).filter(Objects::nonNull).toList();
    }

    @Override
    public List<SocketListenerData> getListeners() {
        List<Listener> now;
        synchronized (this) {
            now = List.copyOf(listeners);
        }
        return now.stream().map(Listener::data).toList();
    }

    @Override
    public synchronized int getDatagramSocketCount() {
        return datagrams.size();
    }

    @Override
    public List<DatagramSocketData> getDatagramSockets() {
        List<Datagrams> now;
        synchronized (this) {
            now = List.copyOf(datagrams);
        }
        return now.stream().map(Datagrams::data).filter(Objects::nonNull).toList();
    }
}
