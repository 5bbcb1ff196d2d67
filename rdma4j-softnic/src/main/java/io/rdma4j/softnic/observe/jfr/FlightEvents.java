package io.rdma4j.softnic.observe.jfr;

import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairState;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;

import java.net.InetSocketAddress;

/**
 * Tells Java Flight Recorder what happens, if it records.
 *
 * <p>The classes of the events are loaded when the recorder starts, for that takes a fifth of a second;
 * until then each call here reads one flag and allocates nothing.
 */
public final class FlightEvents {
    /** A runtime image may come without the recorder. */
    private static final boolean IS_PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    /** How many are open. */
    private static int devices;

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
        /** It, or who would have it, said no. */
        REFUSED,
        /** The peer did not answer. */
        UNREACHABLE
    }

    /**
     * A device is opened: the events are known as soon as the recorder starts, or now if it has, until the last
     * device is closed.
     */
    public static synchronized void prepare() {
        if (devices++ == 0 && IS_PRESENT) {
            FlightRecorder.addListener(Registration.LISTENER);
        }
    }

    /** A device is closed: after the last one the recorder need not remember these classes. */
    public static synchronized void forget() {
        if (--devices == 0 && IS_PRESENT) {
            FlightRecorder.removeListener(Registration.LISTENER);
        }
    }

    /** Of its own so that it is loaded only where there is a recorder. */
    private static final class Registration implements FlightRecorderListener {
        static final FlightRecorderListener LISTENER = new Registration();

        @Override
        public void recorderInitialized(FlightRecorder recorder) {
            FlightRecorder.register(ConnectionEvent.class);
            FlightRecorder.register(ServiceLookupEvent.class);
            FlightRecorder.register(QueuePairStateEvent.class);
            FlightRecorder.register(RetransmissionEvent.class);
            FlightRecorder.register(ReceiverNotReadyEvent.class);
            FlightRecorder.register(DropEvent.class);
        }
    }

    private static boolean isStarted() {
        return IS_PRESENT && FlightRecorder.isInitialized();
    }

    /**
     * A connection began or ended.
     *
     * @param queuePair this side's, 0 if it has none yet
     * @param reason of a rejection, as the connection manager numbers it, otherwise 0
     */
    public static void connection(Outcome outcome, InetSocketAddress local,
            InetSocketAddress remote, int queuePair, int reason) {
        if (isStarted() && ConnectionEvent.PROBE.isEnabled()) {
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
        if (isStarted() && ServiceLookupEvent.PROBE.isEnabled()) {
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

    /** A queue pair changed its state; the cause is a word. */
    public static void queuePairState(int queuePair, QueuePairState from, QueuePairState to,
            String cause) {
        if (isStarted() && QueuePairStateEvent.PROBE.isEnabled()) {
            QueuePairStateEvent event = new QueuePairStateEvent();
            event.queuePair = queuePair;
            event.from = from.name();
            event.to = to.name();
            event.cause = cause;
            event.commit();
        }
    }

    /** A queue pair sends again from a packet on. */
    public static void retransmission(int queuePair, int psn, RetransmissionCause cause) {
        if (isStarted() && RetransmissionEvent.PROBE.isEnabled()) {
            RetransmissionEvent event = new RetransmissionEvent();
            event.queuePair = queuePair;
            event.psn = psn;
            event.cause = cause.name();
            event.commit();
        }
    }

    /** One side had no receive posted. */
    public static void receiverNotReady(int queuePair, boolean isOwn) {
        if (isStarted() && ReceiverNotReadyEvent.PROBE.isEnabled()) {
            ReceiverNotReadyEvent event = new ReceiverNotReadyEvent();
            event.queuePair = queuePair;
            event.side = side(isOwn);
            event.commit();
        }
    }

    /**
     * Something that arrived was dropped.
     *
     * @param queuePair the one it was for, 0 if it was for none
     */
    public static void drop(Counter reason, Gid source, int queuePair) {
        if (isStarted() && DropEvent.PROBE.isEnabled()) {
            DropEvent event = new DropEvent();
            if (event.shouldCommit()) {
                event.reason = reason.text();
                event.source = source.address().getHostAddress();
                event.queuePair = queuePair;
                event.commit();
            }
        }
    }
}
