package io.rdma4j.spi;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
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

    // ---------------------------------------------------------------- what the transport decides

    /** {@return how much private data connections carry} */
    PrivateDataLimits privateDataLimits();

    /** {@return the port of the device that an address is at} */
    int portNumber(InetAddress local);

    /**
     * Checks that packets can leave for a destination.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the local address, or its port is down
     */
    void checkRoute(InetAddress local, InetAddress destination) throws RdmaException;

    /**
     * {@return how a new queue pair is made ready to receive, before it is connected} C: what
     * {@code rdma_create_qp} does.
     *
     * @param local the address it is for
     */
    QueuePairBringUp bringUp(InetAddress local);

    // ---------------------------------------------------------------- connecting

    /**
     * Listens for connection requests.
     *
     * @throws RdmaException EADDRINUSE if a program listens there already
     */
    CmListener listen(ListenRequest spec, CmListener.Handler handler) throws RdmaException;

    /**
     * Asks a listener for a connection; the answer comes to the handler.
     *
     * @throws RdmaException ENETUNREACH if the request cannot be sent; a software device tells the handler
     *         instead
     */
    CmConnection connect(ConnectRequest request, CmConnection.Handler handler) throws RdmaException;

    /** {@return its datagram services, null if its transport has no datagrams} */
    @Nullable
    CmDatagrams datagramServices();

    // ---------------------------------------------------------------- waiting

    /** {@return what threads that wait for its events drive; {@link ProgressDriver#NONE} if it goes on by itself} */
    ProgressDriver progressDriver();

    /** {@return the threads that wait for completions of a queue of this device} */
    CompletionWaiters waiters(CompletionQueue queue);

    /**
     * {@return why no completion of a queue pair can come any more, null if one can} What has completed by then is
     * in its queue. When it may have changed, the device tells the threads that wait ({@link CompletionWaiters#onEnd}).
     *
     * <p>ENOTCONN if it is in a state that no work is carried out in (ERR, RESET) and none is outstanding, ENODEV
     * likewise if the device is gone, EBADF if it is closed.
     *
     * @param ofReceives whether receives are asked for, or sends
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    @Nullable
    Errno ended(QueuePair queuePair, boolean ofReceives) throws RdmaException;

    // ---------------------------------------------------------------- the end

    /**
     * Calls back, in a thread of its own, each time that all objects made from the context, or from one of
     * its protection domains, have been closed.
     *
     * @param retry closes the context if that is possible now
     */
    void whenReleased(Runnable retry);

    /** Tells a watcher what happens to the device, until the context is closed. */
    void watch(Watcher watcher);

    /**
     * Is notified of what happens to a device. Called by any thread that holds no lock another thread could wait for
     * while it drives the device; must not block for long.
     */
    interface Watcher {
        /** An address of the device went away or moved to another interface. */
        void onAddressChanged(InetAddress address);

        /** The device is gone: nothing can be sent or received any more. */
        void onDeviceGone();
    }
}
