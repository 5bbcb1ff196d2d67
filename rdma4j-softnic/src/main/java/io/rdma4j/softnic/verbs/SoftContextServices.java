// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.DeviceEventChannel;
import io.rdma4j.device.OwnedObjects;
import io.rdma4j.softnic.engine.EngineLog;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.IdTable;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** What the objects of a device context need of it. It knows none of them. */
final class SoftContextServices {
    private static final System.Logger LOG = System
            .getLogger(SoftContextServices.class.getName());
    private final CmContext context;
    private final NicServices nic;
    private final DeviceEventChannel asyncEventChannel;
    private final ChildCounts children = new ChildCounts(this::onReleased);
    private final OwnedObjects owned = new OwnedObjects();
    /** Changed by the engine's owner. */
    private final IdTable<QueuePair> queuePairs = new IdTable<>();
    private volatile @Nullable Runnable whenReleased;
    private volatile boolean isClosed;

    /** @param context for its objects to answer with; only passed on */
    SoftContextServices(CmContext context, NicServices nic) {
        this.context = context;
        this.nic = nic;
        asyncEventChannel = new DeviceEventChannel(nic.device().name());
    }

    /** {@return the context, for objects to answer with} */
    CmContext context() {
        return context;
    }

    /** {@return the open device that the context shares with others} */
    NicServices nic() {
        return nic;
    }

    /** {@return the source of the events of a new object} */
    AsyncEventSource newSource(Object subject) {
        return new AsyncEventSource(asyncEventChannel, nic.device().name(), subject);
    }

    DeviceEventChannel asyncEventChannel() {
        return asyncEventChannel;
    }

    /** {@return the counts of objects that must be closed before the context} */
    ChildCounts children() {
        return children;
    }

    /** {@return its open objects} */
    OwnedObjects owned() {
        return owned;
    }

    /** {@return its open queue pairs by number} For the engine's owner to change, for any thread to look. */
    IdTable<QueuePair> queuePairs() {
        return queuePairs;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** @throws RdmaException EBADF if it is closed */
    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("device context");
        }
    }

    /** @throws RdmaException ENODEV if the device has failed: nothing would ever come of a queue pair */
    void requireWorking(String operation) throws RdmaException {
        if (nic.driver().hasFailed()) {
            throw new RdmaException(Errno.ENODEV, operation,
                    "the device has failed; close what you have of it, and open it anew");
        }
    }

    /**
     * {@return the datagram services of the device}
     *
     * @throws RdmaException EOPNOTSUPP if it has none
     */
    UnreliableDatagrams datagrams(String operation) throws RdmaException {
        UnreliableDatagrams datagrams = nic.transport().datagrams();
        if (datagrams == null) {
            throw RdmaException.unsupported(operation,
                    "this device has no datagrams, and so no address handles");
        }
        return datagrams;
    }

    // ---------------------------------------------------------------- the end

    /** The last object of the context, or of one of its domains, was closed. */
    void onReleased() {
        Runnable retry = whenReleased;
        if (retry != null && !isClosed) {
            // Not in this thread: the engine's owner must not wait for threads that wait for it. No virtual one: the program's may
            // keep all carriers.
            try {
                Thread.ofPlatform().daemon().name("rdma4j-release").start(retry);
            } catch (OutOfMemoryError noThread) {
                EngineLog.log(LOG, System.Logger.Level.DEBUG,
                        () -> "what waits for the end of an object waits for that of another",
                        noThread);
            }
        }
    }

    void whenReleased(Runnable retry) {
        whenReleased = retry;
    }

    /**
     * Marks it as closed. For the engine's owner.
     *
     * @return false if it was
     * @throws RdmaException EBUSY if objects depend on it
     */
    boolean beginClose(String operation) throws RdmaException {
        if (isClosed) {
            return false;
        }
        children.requireNone(operation);
        isClosed = true;
        return true;
    }
}
