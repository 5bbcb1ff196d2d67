package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The channel of an id's events, and how a synchronous id waits for them. */
final class IdEvents {
    /** The id, which only the events carry: no method of it is called here. */
    private final CmId id;
    private final IdStateMachine states;
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private volatile EventChannel channel;
    private volatile boolean isSynchronous;
    private final AtomicBoolean isInStep = new AtomicBoolean();
    private volatile @Nullable CmEvent last;
    /** Of the devices that publish events of the id: one entry for each {@link #addDriver}. Guarded by this. */
    private final List<ProgressDriver> drivers = new ArrayList<>();

    /** @param given the channel, or null for a synchronous id with one of its own */
    IdEvents(CmId id, IdStateMachine states, @Nullable EventChannel given) throws RdmaException {
        this.id = id;
        this.states = states;
        isSynchronous = given == null;
        channel = given == null ? EventChannel.create() : given;
        channel.attach();
    }

    EventChannel channel() {
        return channel;
    }

    boolean isSynchronous() {
        return isSynchronous;
    }

    /** {@return the event that ended the last step of a synchronous id} */
    @Nullable
    CmEvent last() {
        return last;
    }

    // ---------------------------------------------------------------- publishing

    /** Publishes an event of the id; may be called by the thread that drives the device. */
    void publish(CmEventType type, EventDetails details) {
        if (!states.is(IdState.CLOSED)) {
            publish(new CmEvent(type, id, null, details, unacknowledged::decrementAndGet));
        }
    }

    /** Publishes the request of a new id in the channel of its listener. */
    void publishRequest(IdEvents request, ConnectionParameters parameters) {
        publish(new CmEvent(CmEventType.CONNECT_REQUEST, request.id, id,
                EventDetails.of(parameters), request.unacknowledged::decrementAndGet));
    }

    /** One lock with {@link #migrate}: no event goes to the old channel after the others have moved. */
    private synchronized void publish(CmEvent event) {
        channel.publish(event);
    }

    /** An event of this id was handed to the application. */
    void onTaken() {
        unacknowledged.incrementAndGet();
    }

    // ---------------------------------------------------------------- waiting

    /** A step in progress; while there is one, a synchronous id cannot begin another. */
    final class Step implements AutoCloseable {
        private final boolean isAlone;

        private Step(boolean isAlone) {
            this.isAlone = isAlone;
        }

        /** As {@link IdEvents#complete}. */
        void complete(String operation, CmEventType... expected) throws RdmaException {
            IdEvents.this.complete(operation, expected);
        }

        @Override
        public void close() {
            if (isAlone) {
                isInStep.set(false);
            }
        }
    }

    /**
     * Begins a step whose outcome comes later.
     *
     * @throws RdmaException EINVAL if another thread waits for the outcome of a step: there is one outcome
     *         for both
     */
    Step begin(String operation) throws RdmaException {
        boolean isAlone = isSynchronous;
        if (isAlone && !isInStep.compareAndSet(false, true)) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "another thread waits for the outcome of a step of this id");
        }
        return new Step(isAlone);
    }

    /** Waits for the outcome of a step, one of those given, if the id is synchronous. */
    void complete(String operation, CmEventType... expected) throws RdmaException {
        if (!isSynchronous) {
            return;
        }
        List<CmEventType> outcomes = List.of(expected);
        CmEvent event = channel.awaitEvent();
        while (!outcomes.contains(event.type()) && isNoOutcome(event.type())) {
            event.acknowledge();
            event = channel.awaitEvent();
        }
        remember(event);
        if (outcomes.contains(event.type())) {
            return;
        }
        if (event.isFailure()) {
            throw event.failure(operation);
        }
        // Left behind by a step that the id began while it was asynchronous.
        throw new RdmaException(Errno.EINVAL, operation,
                event.type().text() + " came instead of " + outcomes.getFirst().text());
    }

    private static boolean isNoOutcome(CmEventType type) {
        return type == CmEventType.TIMEWAIT_EXIT || type == CmEventType.ADDR_CHANGE
                || type == CmEventType.USER;
    }

    /** Keeps an event for {@link CmId#event}; the one before is done with. */
    void remember(@Nullable CmEvent event) {
        CmEvent previous = last;
        if (previous != null) {
            previous.acknowledge();
        }
        last = event;
    }

    /** A device publishes events of the id from now on; the thread that waits for them may drive it. */
    synchronized void addDriver(ProgressDriver driver) {
        drivers.add(driver);
        channel.addDriver(driver);
    }

    /** Undoes one {@link #addDriver}. */
    synchronized void removeDriver(ProgressDriver driver) {
        if (drivers.remove(driver)) {
            channel.removeDriver(driver);
        }
    }

    // ---------------------------------------------------------------- moving and the end

    /**
     * Sends events elsewhere from now on, those that wait included.
     *
     * @param given the channel, or null to make the id synchronous
     */
    void migrate(@Nullable EventChannel given) throws RdmaException {
        if (given == null && isSynchronous) {
            throw new RdmaException(Errno.EINVAL, "migrate id", "the id is synchronous already");
        }
        remember(null);
        requireAcknowledged("migrate id");
        EventChannel target = given == null ? EventChannel.create() : given;
        target.attach();
        EventChannel left;
        boolean wasOwn;
        synchronized (this) {
            left = channel;
            wasOwn = isSynchronous;
            target.takeOver(id, left);
            drivers.forEach(target::addDriver);
            drivers.forEach(left::removeDriver);
            channel = target;
            isSynchronous = given == null;
        }
        left.detach();
        if (wasOwn) {
            left.close();
        }
    }

    /** @throws RdmaException EBUSY while an event was taken and not acknowledged */
    void requireAcknowledged(String operation) throws RdmaException {
        if (unacknowledged.get() > 0) {
            throw new RdmaException(Errno.EBUSY, operation, unacknowledged.get()
                    + " event(s) are not acknowledged; acknowledge them first");
        }
    }

    /** The id is closed: its events are dropped. */
    void close() throws RdmaException {
        channel.drop(id);
        channel.detach();
        if (isSynchronous) {
            channel.close();
        }
    }
}
