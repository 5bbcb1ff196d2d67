// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jfr;

import io.rdma4j.observe.jfr.EventClasses;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * Tells Java Flight Recorder what happens to sockets, if it records. Until the recorder starts each call here reads one flag, and
 * while nothing is recorded none allocates. Thread safe.
 */
public final class SocketEvents {
    private static final EventClasses CLASSES = new EventClasses(
            () -> List.of(SocketConnectEvent.class, SocketAcceptEvent.class,
                    SocketCloseEvent.class, DatagramPeerEvent.class,
                    DatagramSocketCloseEvent.class));

    private SocketEvents() {}

    /** What became of an attempt to connect. */
    public enum Outcome {
        /** The connection stands. */
        ESTABLISHED,
        /** It could not be made. */
        FAILED,
        /** The program has given up: its time was up, or it has closed the socket. */
        CANCELLED
    }

    /** How a connection has ended. */
    public enum End {
        /** This side has closed it first, and the peer has all bytes. */
        CLOSED,
        /** The peer has closed it first. */
        CLOSED_BY_PEER,
        /** This side has closed it without waiting for its last bytes. */
        ABORTED,
        /** The peer has not taken the last bytes in time. */
        GIVEN_UP,
        /** It was reset or lost. */
        BROKEN
    }

    /**
     * A connection.
     *
     * @param local null if it has no address yet
     * @param device the name, empty for none yet
     * @param queuePair its number, 0 for none yet
     * @param rule by which it goes over RDMA, empty for none
     */
    public record Ends(@Nullable InetSocketAddress local, InetSocketAddress remote, String device,
            int queuePair, String rule) {}

    /** The first socket is opened, see {@link EventClasses#prepare}. */
    public static void prepare() {
        CLASSES.prepare();
    }

    /** The last socket is closed, see {@link EventClasses#forget}. */
    public static void forget() {
        CLASSES.forget();
    }

    /** {@return whether attempts to connect are recorded, for who would have to find out what to tell of them} */
    public static boolean recordsConnects() {
        return EventClasses.isStarted() && SocketConnectEvent.PROBE.isEnabled();
    }

    /** {@return whether what is accepted is recorded, likewise} */
    public static boolean recordsAccepts() {
        return EventClasses.isStarted() && SocketAcceptEvent.PROBE.isEnabled();
    }

    /** {@return whether ends are recorded, likewise} */
    public static boolean recordsCloses() {
        return EventClasses.isStarted() && SocketCloseEvent.PROBE.isEnabled();
    }

    /**
     * An attempt to connect has ended.
     *
     * @param reason of a failure, otherwise null
     */
    public static void connect(Outcome outcome, Ends ends, long elapsedNs,
            @Nullable Exception reason) {
        if (recordsConnects()) {
            SocketConnectEvent event = new SocketConnectEvent();
            event.outcome = outcome.name();
            event.local = text(ends.local());
            event.remote = text(ends.remote());
            event.device = ends.device();
            event.queuePair = ends.queuePair();
            event.rule = ends.rule();
            event.elapsed = elapsedNs;
            event.reason = text(reason);
            event.commit();
        }
    }

    /** A program has accepted a connection. */
    public static void accept(Ends ends, long queuedNs) {
        if (recordsAccepts()) {
            SocketAcceptEvent event = new SocketAcceptEvent();
            event.local = text(ends.local());
            event.remote = text(ends.remote());
            event.device = ends.device();
            event.queuePair = ends.queuePair();
            event.rule = ends.rule();
            event.queued = queuedNs;
            event.commit();
        }
    }

    /**
     * A connection has ended.
     *
     * @param reason why it is broken, otherwise null
     */
    public static void close(End end, Ends ends, long lifetimeNs, long sentBytes,
            long receivedBytes, long mappedBytes, @Nullable Exception reason) {
        if (recordsCloses()) {
            SocketCloseEvent event = new SocketCloseEvent();
            event.local = text(ends.local());
            event.remote = text(ends.remote());
            event.device = ends.device();
            event.queuePair = ends.queuePair();
            event.rule = ends.rule();
            event.lifetime = lifetimeNs;
            event.sentBytes = sentBytes;
            event.receivedBytes = receivedBytes;
            event.mappedBytes = mappedBytes;
            event.end = end.name();
            event.reason = text(reason);
            event.commit();
        }
    }

    /** {@return whether peers of datagrams are recorded, likewise} */
    public static boolean recordsDatagramPeers() {
        return EventClasses.isStarted() && DatagramPeerEvent.PROBE.isEnabled();
    }

    /** {@return whether ends of sockets of datagrams are recorded, likewise} */
    public static boolean recordsDatagramCloses() {
        return EventClasses.isStarted() && DatagramSocketCloseEvent.PROBE.isEnabled();
    }

    /** A peer of datagrams has said which queue pair it has. */
    public static void datagramPeer(Ends ends, int remoteQueuePair) {
        if (recordsDatagramPeers()) {
            DatagramPeerEvent event = new DatagramPeerEvent();
            event.local = text(ends.local());
            event.remote = text(ends.remote());
            event.device = ends.device();
            event.queuePair = ends.queuePair();
            event.rule = ends.rule();
            event.remoteQueuePair = remoteQueuePair;
            event.commit();
        }
    }

    /**
     * What a socket of datagrams has done.
     *
     * @param introduced how many of those that were sent went over UDP
     */
    public record Datagrams(long sent, long sentBytes, long introduced, long received,
            long receivedBytes, long dropped) {}

    /**
     * A socket of datagrams is closed.
     *
     * @param remote to which it was connected, null if it was not
     * @param rule by which it goes over RDMA, empty for none
     * @param reason why it has failed, null if it has not
     */
    public static void datagramClose(InetSocketAddress local, @Nullable InetSocketAddress remote,
            String rule, long lifetimeNs, Datagrams done, @Nullable Exception reason) {
        if (recordsDatagramCloses()) {
            DatagramSocketCloseEvent event = new DatagramSocketCloseEvent();
            event.local = text(local);
            event.remote = text(remote);
            event.rule = rule;
            event.lifetime = lifetimeNs;
            event.sentDatagrams = done.sent();
            event.sentBytes = done.sentBytes();
            event.introducedDatagrams = done.introduced();
            event.receivedDatagrams = done.received();
            event.receivedBytes = done.receivedBytes();
            event.droppedDatagrams = done.dropped();
            event.reason = text(reason);
            event.commit();
        }
    }

    private static String text(@Nullable InetSocketAddress address) {
        return address == null
                ? ""
                : address.getAddress().getHostAddress() + " port " + address.getPort();
    }

    private static String text(@Nullable Exception reason) {
        return reason == null ? "" : String.valueOf(reason.getMessage());
    }
}
