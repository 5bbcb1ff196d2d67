package io.rdma4j.cm;

import io.rdma4j.spi.EventQueue;
import io.rdma4j.spi.WaitingRoom;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * Where events of {@link CmId}s arrive; one channel can serve many ids on several devices.
 *
 * <p>C: {@code struct rdma_event_channel}. Thread safe; each event is handed out once. Waiting suits
 * virtual threads. A platform thread that waits may drive a device meanwhile, unless another does.
 */
public final class EventChannel implements AutoCloseable {
    private final EventQueue<CmEvent> events = new EventQueue<>("await connection manager event",
            false);
    private int ids;
    private boolean closed;

    private EventChannel() {}

    /** {@return a new channel} C: {@code rdma_create_event_channel}. */
    public static EventChannel create() {
        return new EventChannel();
    }

    /**
     * Waits for the next event; it must be acknowledged. C: {@code rdma_get_cm_event}.
     *
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    public CmEvent awaitEvent() throws RdmaException {
        CmEvent event = events.take();
        event.id().onEventTaken(event);
        return event;
    }

    /**
     * {@return the next event, or null if none comes in time} It must be acknowledged.
     *
     * @param timeout how long to wait; zero or less to look only
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    public @Nullable CmEvent pollEvent(Duration timeout) throws RdmaException {
        CmEvent event = events.poll(timeout);
        if (event != null) {
            event.id().onEventTaken(event);
        }
        return event;
    }

    /**
     * {@return a channel that a selector can wait for, together with sockets and others: it is readable while an
     * event is here} C: {@code rdma_event_channel.fd} (rdma_create_event_channel(3)).
     *
     * <p>Register it for {@link java.nio.channels.SelectionKey#OP_READ}, but do not read from it: taking events
     * makes it unreadable, whoever takes them. When it is readable take one or all events, with
     * {@link #pollEvent} and a time-out of zero, for another thread may have been faster.
     *
     * <p>It is non-blocking and always the same, made by the first call; without one it costs nothing. It belongs to
     * this channel, which closes it, and wakes selectors that wait for it that moment; others find its key invalid.
     * Devices drive themselves while a thread waits in a selector; that costs one more wake-up than waiting in
     * {@link #awaitEvent}.
     *
     * @throws RdmaException EBADF when the channel is closed, ENOMEM if the system gives no pipe
     */
    public SelectableChannel selectableChannel() throws RdmaException {
        return events.selectableChannel();
    }

    /**
     * Closes the channel and wakes its waiters. Idempotent. C: {@code rdma_destroy_event_channel}.
     *
     * @throws RdmaException EBUSY while ids use it
     */
    @Override
    public synchronized void close() throws RdmaException {
        if (ids > 0) {
            throw new RdmaException(Errno.EBUSY, "close event channel",
                    ids + " id(s) still use it; close them first");
        }
        closed = true;
        events.close();
    }

    void publish(CmEvent event) {
        events.publish(event);
    }

    synchronized void attach() throws RdmaException {
        if (closed) {
            throw new RdmaException(Errno.EBADF, "create id", "the event channel is closed");
        }
        ids++;
    }

    synchronized void detach() {
        ids--;
    }

    /** Lets threads that wait here drive a device that publishes here. */
    void addRoom(WaitingRoom room) {
        events.addRoom(room);
    }

    void removeRoom(WaitingRoom room) {
        events.removeRoom(room);
    }

    void drop(CmId id) {
        events.removeIf(event -> event.id() == id);
    }

    /** Takes over an id with its events that nobody has taken. */
    void takeOver(CmId id, EventChannel from) {
        from.events.moveIf(event -> event.id() == id || event.listenId() == id, events);
    }
}
