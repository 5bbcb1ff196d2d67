package io.rdma4j.verbs;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.EventSource;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * Where the asynchronous events of one open device arrive ({@link DeviceContext#asyncEventChannel}). They are the same
 * that {@link DeviceContext#awaitAsyncEvent} and {@link DeviceContext#pollAsyncEvent} take.
 *
 * <p>C: {@code ibv_context.async_fd}. Thread safe; each event is handed out once and must be acknowledged with
 * {@link AsyncEvent#acknowledge} before the object it is about can be closed. Waiting suits virtual threads.
 */
public final class AsyncEventChannel extends EventSource<AsyncEvent, RdmaException> {
    private AsyncEventChannel() {
        super(RdmaException.whileWaiting("await asynchronous event"), false, null);
    }

    /** {@return a new channel} For devices, which publish in its {@link EventQueue} and close that when they are closed. */
    public static AsyncEventChannel create() {
        AsyncEventChannel channel = new AsyncEventChannel();
        EventQueue.of(channel).attach();
        return channel;
    }

    /**
     * Lets threads that wait for a set wait for this channel, too, as if it had been created on the set. Events that are
     * here already count. Idempotent.
     *
     * @throws RdmaException EBUSY if the channel belongs to another set that is open, EBADF if the device or the set is
     *         closed
     */
    public void join(WaitSet set) throws RdmaException {
        String operation = "join wait set";
        switch (joinSet(set)) {
            case JOINED -> {
                // It belongs to the set.
            }
            case ELSEWHERE -> throw new RdmaException(Errno.EBUSY, operation,
                    "the channel belongs to another set; close that first");
            case CLOSED -> throw new RdmaException(Errno.EBADF, operation,
                    "the device or the set is closed");
        }
    }

    /**
     * Waits for the next event. C: {@code ibv_get_async_event}.
     *
     * @throws RdmaException EINTR when interrupted, EBADF when the device is closed
     */
    @Override
    public AsyncEvent awaitEvent() throws RdmaException {
        return super.awaitEvent();
    }

    /**
     * {@return the next event, or null if none comes in time}
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws RdmaException EINTR when interrupted, EBADF when the device is closed
     */
    @Override
    public @Nullable AsyncEvent pollEvent(Duration timeout) throws RdmaException {
        return super.pollEvent(timeout);
    }

    /**
     * {@inheritDoc} C: {@code ibv_context.async_fd} (ibv_get_async_event(3)).
     *
     * @throws RdmaException EBADF when the device is closed, ENOMEM if the system gives no pipe
     */
    @Override
    public SelectableChannel selectableChannel() throws RdmaException {
        return super.selectableChannel();
    }

    /**
     * The device closes its channel, not the application; does nothing after that.
     *
     * @throws RdmaException EBUSY while the device is open
     */
    @Override
    public void close() throws RdmaException {
        if (!isClosed()) {
            throw new RdmaException(Errno.EBUSY, "close asynchronous event channel",
                    "its device is open; close that");
        }
    }
}
