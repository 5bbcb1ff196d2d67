package io.rdma4j.verbs;

import io.rdma4j.spi.EventQueue;
import io.rdma4j.spi.WaitingRoom;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * Where armed completion queues announce that completions arrived; a thread can sleep here.
 *
 * <p>C: {@code struct ibv_comp_channel}, {@code ibv_get_cq_event}. One channel can serve completion
 * queues of several devices. Thread safe; each event is handed out once and must be acknowledged with
 * {@link CompletionQueue#acknowledgeEvents} before its queue can be closed. Waiting suits virtual
 * threads. A platform thread that waits may drive a device meanwhile, which saves the detour by another
 * thread.
 *
 * <p>There is one event for each time that {@link CompletionQueue#requestNotification} asked for one, for
 * whichever thread takes it. Threads that wait for the completions of an id
 * ({@link io.rdma4j.cm.CmOperations#awaitReceiveCompletion}) neither take events nor cause any, so both can be
 * used on one channel, even for one queue; who is woken by an event may find that a thread that waits has
 * taken the completion.
 */
public final class CompletionChannel implements AutoCloseable {
    private final EventQueue<CompletionQueue> events = new EventQueue<>("await completion event",
            true);
    private int completionQueues;
    private boolean closed;

    private CompletionChannel() {}

    /** {@return a new channel} C: {@code ibv_create_comp_channel}. */
    public static CompletionChannel create() {
        return new CompletionChannel();
    }

    /**
     * Waits for an event. C: {@code ibv_get_cq_event}.
     *
     * @return the completion queue to poll
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    public CompletionQueue awaitEvent() throws RdmaException {
        return events.take();
    }

    /**
     * {@return the completion queue of the next event, or null if none comes in time} The event must be
     * acknowledged at that queue.
     *
     * @param timeout how long to wait; zero or less to look only
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    public @Nullable CompletionQueue pollEvent(Duration timeout) throws RdmaException {
        return events.poll(timeout);
    }

    /**
     * {@return a channel that a selector can wait for, together with sockets and others: it is readable while an
     * event is here} C: {@code ibv_comp_channel.fd} (ibv_create_comp_channel(3)).
     *
     * <p>Register it for {@link java.nio.channels.SelectionKey#OP_READ}, but do not read from it: taking events
     * makes it unreadable, whoever takes them. When it is readable take one or all events, with
     * {@link #pollEvent} and a time-out of zero, for another thread may have been faster; acknowledge; ask for the
     * next event at the queue they name; poll the queue until it is empty, and only then select again.
     *
     * <p>It is non-blocking and always the same, made by the first call; without one it costs nothing. It belongs to
     * this channel, which closes it, and wakes selectors that wait for it that moment; others find its key invalid.
     * A device drives itself while a thread waits in a selector; that costs one more wake-up than waiting in
     * {@link #awaitEvent}.
     *
     * @throws RdmaException EBADF when the channel is closed, ENOMEM if the system gives no pipe
     */
    public SelectableChannel selectableChannel() throws RdmaException {
        return events.selectableChannel();
    }

    /** {@return whether {@link #selectableChannel} was called} For devices. */
    public boolean isSelectable() {
        return events.isSelectable();
    }

    /** Announces an event. For devices; the completion queue must have been attached. */
    public void publish(CompletionQueue queue) {
        events.publish(queue);
    }

    /**
     * Counts a new completion queue. For devices.
     *
     * @param room where threads that wait here may do so
     */
    public synchronized void attach(WaitingRoom room) throws RdmaException {
        if (closed) {
            throw new RdmaException(Errno.EBADF, "create completion queue",
                    "the completion channel is closed");
        }
        completionQueues++;
        events.addRoom(room);
    }

    /** {@return events of a completion queue that nobody has taken} For devices. */
    public int waiting(CompletionQueue queue) {
        return events.count(queue::equals);
    }

    /**
     * Forgets a closed completion queue and the events nobody took. For devices.
     *
     * @param room as for {@link #attach}
     */
    public synchronized void detach(CompletionQueue queue, WaitingRoom room) {
        completionQueues--;
        events.removeRoom(room);
        events.removeIf(queue::equals);
    }

    /**
     * Closes the channel and wakes its waiters. Idempotent. C: {@code ibv_destroy_comp_channel}.
     *
     * @throws RdmaException EBUSY while completion queues use it
     */
    @Override
    public synchronized void close() throws RdmaException {
        if (completionQueues > 0) {
            throw new RdmaException(Errno.EBUSY, "close completion channel",
                    completionQueues + " completion queue(s) still use it; close them first");
        }
        closed = true;
        events.close();
    }
}
