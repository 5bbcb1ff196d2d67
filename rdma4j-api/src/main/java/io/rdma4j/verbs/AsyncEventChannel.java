package io.rdma4j.verbs;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.EventSource;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * Delivers the asynchronous events of one open device ({@link DeviceContext#asyncEventChannel}).
 * {@link DeviceContext#awaitAsyncEvent} and {@link DeviceContext#pollAsyncEvent} take events from it, too.
 *
 * <p>C: {@code ibv_context.async_fd}. Thread safe; each event is delivered once and must be acknowledged with
 * {@link AsyncEvent#acknowledge} before the object that it names can be closed. Virtual threads may wait here.
 */
public final class AsyncEventChannel extends EventSource<AsyncEvent, RdmaException>
        implements
            WaitChannel<AsyncEvent> {
    private AsyncEventChannel() {
        super(RdmaException.whileWaiting("await asynchronous event"), false, null);
    }

    /** {@return a new channel} For devices, which publish in its {@link EventQueue} and close the queue in the end. */
    public static AsyncEventChannel create() {
        AsyncEventChannel channel = new AsyncEventChannel();
        EventQueue.of(channel).attach();
        return channel;
    }

    @Override
    public void join(WaitSet set) throws RdmaException {
        joinSet(set);
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
     * Does nothing once the device is closed, which closes the channel. An application need not call it.
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
