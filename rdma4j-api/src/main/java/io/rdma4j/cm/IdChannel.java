// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.event.EventQueue;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** The channel of an id's events, and how a synchronous id waits for them. */
final class IdChannel implements IdEvents {
    /** The id, which only the events carry: no method of it is called here. */
    private final CmId id;
    private final IdStateMachine states;
    private final UnacknowledgedEvents unacknowledged = new UnacknowledgedEvents();
    private volatile CmEventChannel channel;
    private volatile boolean isSynchronous;
    private final AtomicBoolean isInStep = new AtomicBoolean();
    private volatile @Nullable CmEvent last;
    /** Of the devices that publish events of the id: one entry for each {@link #addDriver}. Guarded by this. */
    private final List<ProgressDriver> drivers = new ArrayList<>();
    /** Guarded by this. */
    private boolean isClosed;

    /** @param given the channel, or null for a synchronous id with one of its own */
    IdChannel(CmId id, IdStateMachine states, @Nullable CmEventChannel given) throws RdmaException {
        this.id = id;
        this.states = states;
        isSynchronous = given == null;
        channel = given == null ? CmEventChannel.create() : given;
        channel.attach();
    }

    CmEventChannel channel() {
        return channel;
    }

    @Override
    public boolean isSynchronous() {
        return isSynchronous;
    }

    /** {@return the event that ended the last step of a synchronous id} */
    @Nullable
    CmEvent last() {
        return last;
    }

    // ---------------------------------------------------------------- publishing

    @Override
    public void publish(CmEventType type, EventDetails details) {
        if (!states.is(IdState.CLOSED)) {
            publish(new CmEvent(type.code(), id, null, details, unacknowledged));
        }
    }

    @Override
    public void publishUnknown(int typeCode, int status) {
        if (!states.is(IdState.CLOSED)) {
            publish(new CmEvent(typeCode, id, null, EventDetails.unknown(status), unacknowledged));
        }
    }

    /** Publishes the request of a new id in the channel of its listener. */
    void publishRequest(IdChannel request, ConnectionParameters parameters) {
        publish(new CmEvent(CmEventType.CONNECT_REQUEST.code(), request.id, id,
                EventDetails.of(parameters), request.unacknowledged));
    }

    /** One lock with {@link #migrate}: no event goes to the old channel after the others have moved. */
    private synchronized void publish(CmEvent event) {
        channel.publish(event.published());
    }

    // ---------------------------------------------------------------- waiting

    private final class StepOfThisId implements Step {
        private final boolean isAlone;

        StepOfThisId(boolean isAlone) {
            this.isAlone = isAlone;
        }

        @Override
        public void complete(String operation, CmEventType... expected) throws RdmaException {
            IdChannel.this.complete(operation, expected);
        }

        @Override
        public void close() {
            if (isAlone) {
                isInStep.set(false);
            }
        }
    }

    @Override
    public Step begin(String operation) throws RdmaException {
        boolean isAlone = isSynchronous;
        if (isAlone && !isInStep.compareAndSet(false, true)) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "another thread waits for the outcome of a step of this id");
        }
        return new StepOfThisId(isAlone);
    }

    @Override
    public void complete(String operation, CmEventType... expected) throws RdmaException {
        if (!isSynchronous) {
            return;
        }
        List<CmEventType> outcomes = List.of(expected);
        CmEvent event = channel.awaitOwnEvent();
        while (!outcomes.contains(event.type()) && isNoOutcome(event.type())) {
            event = channel.awaitOwnEvent();
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
                || type == CmEventType.USER || type == CmEventType.UNKNOWN;
    }

    /** {@return whether who waits for a request goes on to wait after this event} Then it is acknowledged. */
    boolean passOver(CmEvent event) {
        // USER is written to end the wait.
        if (event.type() == CmEventType.USER || !isNoOutcome(event.type())) {
            return false;
        }
        event.acknowledge();
        return true;
    }

    /** Keeps an event for {@link CmId#event}. It keeps nobody from closing the id. */
    void remember(CmEvent event) {
        event.acknowledge();
        last = event;
    }

    @Override
    public synchronized void addDriver(ProgressDriver driver) {
        drivers.add(driver);
        channel.addDriver(driver);
    }

    @Override
    public synchronized void removeDriver(ProgressDriver driver) {
        if (drivers.remove(driver)) {
            channel.removeDriver(driver);
        }
    }

    // ---------------------------------------------------------------- moving and the end

    /**
     * Sends events elsewhere from now on, those that wait included.
     *
     * @param given the channel, or null to make the id synchronous
     * @param requests of this id, a listener, that no thread has taken: they move along
     * @throws RdmaException EBUSY if an event was taken and not acknowledged; then nothing has moved
     */
    void migrate(@Nullable CmEventChannel given, Map<CmId, IdChannel> requests)
            throws RdmaException {
        if (given == null && isSynchronous) {
            throw new RdmaException(Errno.EINVAL, "migrate id", "the id is synchronous already");
        }
        CmEventChannel target = given == null ? CmEventChannel.create() : given;
        target.attach();
        boolean isMoved = false;
        try {
            moveTo(target, given, requests);
            isMoved = true;
        } finally {
            if (!isMoved) {
                leave(target, given == null);
            }
        }
    }

    private void moveTo(CmEventChannel target, @Nullable CmEventChannel given,
            Map<CmId, IdChannel> requests) throws RdmaException {
        CmEventChannel left;
        boolean wasOwn;
        synchronized (this) {
            if (isClosed) {
                throw IdStateMachine.closed();
            }
            left = channel;
            wasOwn = isSynchronous;
            List<EventQueue.Published<CmEvent>> moved = left.removeUnlessTaken(id, unacknowledged);
            if (moved == null) {
                throw new RdmaException(Errno.EBUSY, "migrate id", unacknowledged.count()
                        + " event(s) are not acknowledged; acknowledge them first");
            }
            last = null;
            redirect(target, given == null);
            for (EventQueue.Published<CmEvent> each : moved) {
                IdChannel request = requests.get(each.event().id());
                if (request == null || (given == null && request.isSynchronous())) {
                    target.publish(each);
                } else {
                    request.follow(each, target, given);
                }
            }
        }
        leave(left, wasOwn);
    }

    /**
     * The listener has moved, and no thread has taken the request of this id. Who takes it finds the channel of this id changed, and
     * what happens to this id meanwhile comes behind its request.
     *
     * @param request is published in the listener's new channel
     */
    private void follow(EventQueue.Published<CmEvent> request, CmEventChannel ofListener,
            @Nullable CmEventChannel given) throws RdmaException {
        CmEventChannel target = given == null ? CmEventChannel.create() : given;
        target.attach();
        CmEventChannel left;
        boolean wasOwn;
        synchronized (this) {
            left = channel;
            wasOwn = isSynchronous;
            List<EventQueue.Published<CmEvent>> moved = left.removeUnlessTaken(id,
                    unacknowledged);
            redirect(target, given == null);
            ofListener.publish(request);
            if (moved != null) {
                moved.forEach(target::publish);
            }
        }
        leave(left, wasOwn);
    }

    /** Under the monitor. */
    private void redirect(CmEventChannel target, boolean isOwn) {
        drivers.forEach(target::addDriver);
        drivers.forEach(channel::removeDriver);
        channel = target;
        isSynchronous = isOwn;
    }

    private static void leave(CmEventChannel left, boolean wasOwn) throws RdmaException {
        left.detach();
        if (wasOwn) {
            left.close();
        }
    }

    /**
     * The id is closed, if no thread holds an event of it: from now on none gets one. Idempotent.
     *
     * @throws RdmaException EBUSY while an event was taken and not acknowledged; then nothing has changed
     */
    void end() throws RdmaException {
        if (!endUnlessTaken()) {
            throw new RdmaException(Errno.EBUSY, "close id", unacknowledged.count()
                    + " event(s) are not acknowledged; acknowledge them first, also the one at hand:"
                    + " CmEvent.acknowledge()");
        }
    }

    /** As {@link #end}. {@return false instead of failing} */
    synchronized boolean endUnlessTaken() {
        boolean isEnded = unacknowledged.end();
        if (isEnded) {
            channel.discard(unacknowledged);
        }
        return isEnded;
    }

    /** The id is closed, and nothing publishes here any more. Idempotent. */
    void close() throws RdmaException {
        CmEventChannel left;
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
            left = channel;
        }
        leave(left, isSynchronous);
    }
}
