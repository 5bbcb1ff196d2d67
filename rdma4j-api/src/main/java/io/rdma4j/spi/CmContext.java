package io.rdma4j.spi;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;

/**
 * The connection manager of one open device: what {@code CmId} drives.
 *
 * <p>Handlers are called by the thread that drives the device, one call at a time; they must not block
 * and may call back into the device.
 */
public interface CmContext extends DeviceContext {
    /** {@return the addresses this device sends from and answers to} */
    List<InetAddress> addresses();

    /**
     * Holds one more address.
     *
     * @throws RdmaException EADDRINUSE if another process holds it, EADDRNOTAVAIL if the device does not
     *         host it
     */
    void claim(InetAddress address) throws RdmaException;

    /**
     * Listens for connection requests.
     *
     * @throws RdmaException EADDRINUSE if somebody listens there already
     */
    CmListener listen(ListenCall call, CmListener.Handler handler) throws RdmaException;

    /** Asks a listener for a connection, or for a datagram service; the answer comes to the handler. */
    CmConnection connect(ConnectCall call, CmConnection.Handler handler) throws RdmaException;

    /** {@return where threads that wait for its events may do so} */
    WaitingRoom waitingRoom();

    /** {@return the threads that wait for completions of a queue of this device} */
    CompletionWaiters waiters(CompletionQueue queue);

    /**
     * {@return why no completion of a queue pair can come any more, null if one can} What has completed by then is
     * in its queue. When it may have changed, the device tells those who wait ({@link CompletionWaiters#onEnd}).
     *
     * <p>ENOTCONN if it is in a state that no work is carried out in (ERR, RESET) and none is outstanding, ENODEV
     * likewise if the device is gone, EBADF if it is closed.
     *
     * @param ofReceives whether receives are asked for, or sends
     */
    @Nullable
    Errno ended(QueuePair queuePair, boolean ofReceives) throws RdmaException;

    /**
     * Calls back, in a thread of its own, each time that all objects made from the context, or from one of
     * its protection domains, have been closed.
     *
     * @param retry closes the context if that is possible now
     */
    void whenReleased(Runnable retry);

    /** Tells a watcher what becomes of the device, until the context is closed. */
    void watch(Watcher watcher);

    /**
     * Hears what becomes of a device. Called by any thread that holds no lock another thread could wait for
     * while it drives the device; must not block for long.
     */
    interface Watcher {
        /** An address of the device went away or moved to another interface. */
        void onAddressChanged(InetAddress address);

        /** The device is gone: nothing can be sent or received any more. */
        void onDeviceGone();
    }
}
