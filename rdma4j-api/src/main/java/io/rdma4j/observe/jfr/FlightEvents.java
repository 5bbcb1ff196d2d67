// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * Tells Java Flight Recorder what happens on devices of every kind, if it records. Until the recorder starts each call here
 * reads one flag, and while nothing is recorded none allocates. Thread safe.
 */
public final class FlightEvents {
    private static final DeviceStatistics STATISTICS = new DeviceStatistics();
    private static final EventClasses CLASSES = new EventClasses(
            () -> List.of(ConnectionEvent.class, ServiceLookupEvent.class,
                    QueuePairStateEvent.class, AsynchronousEvent.class),
            new EventClasses.Periodic(() -> DeviceStatisticsEvent.class, STATISTICS::emit));

    private FlightEvents() {}

    /** What became of a connection. */
    public enum Outcome {
        /** Both sides are ready. */
        ESTABLISHED,
        /** One side refused. */
        REJECTED,
        /** The peer did not answer. */
        UNREACHABLE,
        /** It has ended. */
        DISCONNECTED
    }

    /** What became of a look-up of a datagram service. */
    public enum Lookup {
        /** The service said which queue pair serves. */
        FOUND,
        /** The service refused, or the device that would have it. */
        REFUSED,
        /** The peer did not answer. */
        UNREACHABLE
    }

    /** A device is opened, see {@link EventClasses#prepare}. */
    public static void prepare() {
        CLASSES.prepare();
    }

    /** A device is closed, see {@link EventClasses#forget}. */
    public static void forget() {
        CLASSES.forget();
    }

    /** A device is open whose statistics are recorded from time to time, until {@link #hide}. */
    public static void show(DeviceMXBean device) {
        STATISTICS.add(device);
    }

    /** A device is about to be closed. Idempotent. */
    public static void hide(DeviceMXBean device) {
        STATISTICS.remove(device);
    }

    /** {@return whether connections are recorded, for who would have to find out what to tell of them} */
    public static boolean recordsConnections() {
        return EventClasses.isStarted() && ConnectionEvent.PROBE.isEnabled();
    }

    /** {@return whether look-ups are recorded, likewise} */
    public static boolean recordsLookups() {
        return EventClasses.isStarted() && ServiceLookupEvent.PROBE.isEnabled();
    }

    /**
     * A connection began or ended.
     *
     * @param queuePair this side's, 0 if it has none yet
     * @param reason of a rejection, as the connection manager numbers it, otherwise 0
     */
    public static void connection(Outcome outcome, InetSocketAddress local,
            InetSocketAddress remote, int queuePair, int reason) {
        if (recordsConnections()) {
            ConnectionEvent event = new ConnectionEvent();
            event.outcome = outcome.name();
            event.local = text(local);
            event.remote = text(remote);
            event.queuePair = queuePair;
            event.reason = reason;
            event.commit();
        }
    }

    /**
     * A datagram service was looked up.
     *
     * @param isOwn whether this side asked
     * @param queuePair the service's, 0 unless it was found
     * @param status of a refusal, as the connection manager numbers it, otherwise 0
     */
    public static void serviceLookup(Lookup outcome, boolean isOwn, InetSocketAddress local,
            InetSocketAddress remote, int queuePair, int status) {
        if (recordsLookups()) {
            ServiceLookupEvent event = new ServiceLookupEvent();
            event.outcome = outcome.name();
            event.side = side(isOwn);
            event.local = text(local);
            event.remote = text(remote);
            event.queuePair = queuePair;
            event.status = status;
            event.commit();
        }
    }

    private static String side(boolean isOwn) {
        return isOwn ? "this" : "peer";
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + " port " + address.getPort();
    }

    /** A queue pair of a device changed its state; the cause is a word. */
    public static void queuePairState(String device, int queuePair, QueuePairState from,
            QueuePairState to, String cause) {
        if (EventClasses.isStarted() && QueuePairStateEvent.PROBE.isEnabled()) {
            QueuePairStateEvent event = new QueuePairStateEvent();
            event.device = device;
            event.queuePair = queuePair;
            event.from = from.name();
            event.to = to.name();
            event.cause = cause;
            event.commit();
        }
    }

    /**
     * A device has reported something.
     *
     * @param queuePair what it is about, 0 if it is about something else
     * @param port likewise
     */
    public static void asyncEvent(String device, AsyncEventType type, int queuePair, int port) {
        if (EventClasses.isStarted() && AsynchronousEvent.PROBE.isEnabled()) {
            AsynchronousEvent event = new AsynchronousEvent();
            event.device = device;
            event.type = type.name();
            event.queuePair = queuePair;
            event.port = port;
            event.commit();
        }
    }
}
