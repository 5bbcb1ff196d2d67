// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;

/**
 * The connection manager of one open device, which {@code CmId} uses.
 *
 * <p>Handlers are called by the thread that drives the device, one call at a time; they must not block
 * and may call back into the device.
 */
public interface CmContext extends DeviceContext {
    /** {@return the addresses that this device uses} */
    List<InetAddress> addresses();

    /**
     * Makes the device use one more address.
     *
     * @throws RdmaException EADDRINUSE if another process uses it, EADDRNOTAVAIL if the device does not
     *         host it
     */
    void claim(InetAddress address) throws RdmaException;

    /**
     * Makes the device use all addresses that it uses when it is opened for none in particular, as far as it can have them: it may
     * have been opened for one before.
     */
    default void claimUsual() {}

    // ---------------------------------------------------------------- what the transport decides

    /** {@return how much private data the messages of connections can have} */
    PrivateDataLimits privateDataLimits();

    /** {@return the port of the device that has an address} */
    int portNumber(InetAddress local);

    /**
     * Checks that packets can leave for a destination.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the local address, its port is down, or the destination is a
     *         link-local address of another interface
     */
    void checkRoute(InetAddress local, InetAddress destination) throws RdmaException;

    /**
     * {@return the steps by which a new queue pair can receive before it is connected} C: what
     * {@code rdma_create_qp} does.
     *
     * @param local the address it is for
     */
    QueuePairBringUp bringUp(InetAddress local);

    /** {@return the cheapest operation of a reliable connection that completes only once the peer's device has answered} */
    default SendOpcode answeredOperation() {
        return SendOpcode.RDMA_WRITE;
    }

    // ---------------------------------------------------------------- connecting

    /**
     * Listens for connection requests.
     *
     * @throws RdmaException EADDRINUSE if a program listens there already
     */
    CmListener listen(ListenRequest spec, CmListener.Handler handler) throws RdmaException;

    /**
     * Requests a connection; the handler gets the answer.
     *
     * @throws RdmaException ENETUNREACH if the request cannot be sent; a software device reports that to the handler
     *         instead
     */
    CmConnection connect(ConnectRequest request, CmConnection.Handler handler) throws RdmaException;

    /** {@return its datagram services, null if its transport has no datagrams} */
    @Nullable
    CmDatagrams datagramServices();

    // ---------------------------------------------------------------- waiting

    /** {@return the driver for threads that wait for its events; {@link ProgressDriver#NONE} if it needs none} */
    ProgressDriver progressDriver();

    /** {@return the threads that wait for completions of a queue of this device} */
    CompletionWaiters waiters(CompletionQueue queue);

    /**
     * Takes the next completion that is in a queue of this device. As {@link CompletionQueue#poll(WorkCompletion)}, but need
     * not look whether more has arrived: the caller is about to wait, and whoever waits looks.
     *
     * @return whether there was one
     * @throws RdmaException EIO if the queue has overrun, or the device cannot be asked
     */
    default boolean take(CompletionQueue queue, WorkCompletion into) throws RdmaException {
        return queue.poll(into);
    }

    /**
     * {@return why no completion of a queue pair can come any more, null if one can} All earlier completions are
     * in its queue by then. When the answer may have changed, the device wakes the waiting threads
     * ({@link CompletionWaiters#onEnd}).
     *
     * <p>ENOTCONN if it is in a state that executes nothing (ERR, RESET) and has no outstanding request, ENODEV
     * likewise if the device was removed, EBADF if it is closed.
     *
     * @param ofReceives true for the completions of receives, false for those of sends
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    @Nullable
    Errno ended(QueuePair queuePair, boolean ofReceives) throws RdmaException;

    /**
     * {@return what is outstanding of the requests that complete into a queue of a queue pair, those of other queue pairs
     * included} What has completed is in the queue by then, and a queue pair that has failed counts as
     * {@link Outstanding#COMPLETING} until all its requests are flushed. A device that cannot tell answers
     * {@link Outstanding#COMPLETING}.
     *
     * @param ofReceives true for the completion queue of receives, false for that of sends
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    default Outstanding outstanding(QueuePair queuePair, boolean ofReceives) throws RdmaException {
        return Outstanding.COMPLETING;
    }

    // ---------------------------------------------------------------- the end

    /**
     * Registers a callback. It runs in a thread of its own, each time that all objects created from the context, or from one
     * of its protection domains, have been closed.
     *
     * @param retry closes the context if that is possible now
     */
    void whenReleased(Runnable retry);

    /** Registers a watcher, which is notified of what happens to the device until the context is closed. */
    void watch(Watcher watcher);

    /**
     * Is notified of what happens to a device. Called by any thread that holds no lock another thread could wait for
     * while it drives the device; must not block for long.
     */
    interface Watcher {
        /** An address of the device went away or moved to another interface. */
        void onAddressChanged(InetAddress address);

        /** The device was removed: nothing can be sent or received any more. */
        void onDeviceGone();
    }
}
