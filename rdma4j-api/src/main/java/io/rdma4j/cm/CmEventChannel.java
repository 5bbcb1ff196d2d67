// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.EventSource;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.event.WaitFailures;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WaitChannel;
import io.rdma4j.verbs.WaitSet;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.List;

/**
 * Delivers the events of {@link CmId}s; one channel can serve many ids on several devices.
 *
 * <p>C: {@code struct} {@index rdma_event_channel}. Thread safe; each event is delivered once. Virtual threads may wait here. A
 * platform thread that waits may drive a device meanwhile, unless another thread does.
 *
 * @since 0.1.0
 */
public final class CmEventChannel extends EventSource<CmEvent, RdmaException>
        implements
            WaitChannel<CmEvent> {
    private final EventQueue<CmEvent, RdmaException> events = EventQueue.of(this);

    private CmEventChannel(@Nullable WaitSet set) {
        super(new WaitFailures<>("await connection manager event", RdmaException::ofSystem), false,
                set);
    }

    /** {@return a new channel} C: {@index rdma_create_event_channel}. */
    public static CmEventChannel create() {
        return new CmEventChannel(null);
    }

    /**
     * {@return a new channel that a thread can wait for together with others}
     *
     * @param set what a thread waits for
     */
    public static CmEventChannel create(WaitSet set) {
        return new CmEventChannel(set);
    }

    /**
     * Waits for the next event; it must be acknowledged. C: {@index rdma_get_cm_event}.
     *
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    @Override
    public CmEvent awaitEvent() throws RdmaException {
        CmEvent event = super.awaitEvent();
        event.id().onEventTaken(event);
        return event;
    }

    /** {@return the next event of the only id of this channel, which waits for it by itself: it is acknowledged already} */
    CmEvent awaitOwnEvent() throws RdmaException {
        CmEvent event = events.takeUncounted();
        event.uncounted();
        return event;
    }

    /**
     * {@return the next event, or null if none comes in time} It must be acknowledged.
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    @Override
    public @Nullable CmEvent pollEvent(Duration timeout) throws RdmaException {
        CmEvent event = super.pollEvent(timeout);
        if (event != null) {
            event.id().onEventTaken(event);
        }
        return event;
    }

    /**
     * {@inheritDoc} C: {@code rdma_event_channel.}{@index fd of struct rdma_event_channel} (rdma_create_event_channel(3)).
     *
     * @throws RdmaException EBADF when the channel is closed, ENOMEM if the system gives no pipe
     */
    @Override
    public SelectableChannel selectableChannel() throws RdmaException {
        return super.selectableChannel();
    }

    @Override
    public void join(WaitSet set) throws RdmaException {
        joinSet(set);
    }

    /**
     * Closes the channel and wakes its waiters. Idempotent. C: {@index rdma_destroy_event_channel}.
     *
     * @throws RdmaException EBUSY while ids use it
     */
    @Override
    public void close() throws RdmaException {
        int ids = closeUnlessUsed();
        if (ids > 0) {
            throw new RdmaException(Errno.EBUSY, "close event channel",
                    ids + " id(s) still use it; close them first");
        }
    }

    void publish(EventQueue.Published<CmEvent> event) {
        events.publish(event);
    }

    void attach() throws RdmaException {
        if (!events.attach()) {
            throw new RdmaClosedException("create id", "the event channel is closed");
        }
    }

    void detach() {
        events.detach();
    }

    /** Lets threads that wait for this channel drive a device that publishes in it. */
    void addDriver(ProgressDriver driver) {
        events.addDriver(driver);
    }

    void removeDriver(ProgressDriver driver) {
        events.removeDriver(driver);
    }

    /** Drops the events of an id that has ended. */
    void discard(UnacknowledgedEvents ofId) {
        events.discard(ofId);
    }

    /**
     * Removes the events of an id and the requests to it, as it moves to another channel.
     *
     * @return the events in order; null if a thread has taken one of the id's and not acknowledged it
     */
    @Nullable
    List<EventQueue.Published<CmEvent>> removeUnlessTaken(CmId id, UnacknowledgedEvents ofId) {
        return events.removeUnlessTaken(ofId,
                event -> event.id() == id || event.listenId() == id);
    }

    @Override
    public String toString() {
        return "event channel of the connection manager";
    }
}
