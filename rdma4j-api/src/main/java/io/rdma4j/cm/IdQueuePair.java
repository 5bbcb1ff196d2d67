// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;

/** The queue pair and the shared receive queue of an id, if it has them. */
final class IdQueuePair {
    private static final String CREATE = "create queue pair";
    private static final String CREATE_SHARED = "create shared receive queue";

    private final PortSpace space;
    private final QueuePairType type;
    private final IdAddresses addresses;
    private volatile @Nullable OwnQueuePair own;
    private volatile @Nullable SharedReceiveQueue shared;
    private volatile boolean wasClosed;
    /** Guarded by this. */
    private boolean isClosed;

    IdQueuePair(PortSpace space, QueuePairType type, IdAddresses addresses) {
        this.space = space;
        this.type = type;
        this.addresses = addresses;
    }

    // ---------------------------------------------------------------- making them

    /** @throws RdmaException EINVAL if the id has a queue pair, or wants another type */
    void checkCreate(QueuePairInitAttributes attributes) throws RdmaException {
        if (own != null) {
            throw hasOne(CREATE);
        }
        if (attributes.isTypeSet() && attributes.type() != type) {
            throw new RdmaException(Errno.EINVAL, CREATE, "an id in port space "
                    + space + " takes a queue pair of type " + type + ", not "
                    + attributes.type());
        }
    }

    /**
     * Creates the queue pair.
     *
     * @param bringUp the steps that are possible before it is connected
     */
    QueuePair create(@Nullable ProtectionDomain domain, QueuePairInitAttributes attributes,
            QueuePairBringUp bringUp) throws RdmaException {
        DeviceLease device = addresses.device();
        checkCreate(attributes);
        ProtectionDomain ofId = domain(domain, device, CREATE);
        QueuePairInitAttributes wanted = new QueuePairInitAttributes(attributes).type(type);
        SharedReceiveQueue receives = shared;
        if (receives != null && wanted.sharedReceiveQueue() == null) {
            wanted.sharedReceiveQueue(receives);
        }
        OwnQueuePair created = OwnQueuePair.create(device.context(), ofId, wanted);
        boolean isKept = false;
        try {
            bringUp.applyTo(created.queuePair);
            keep(created);
            isKept = true;
        } finally {
            if (!isKept) {
                created.close();
            }
        }
        return created.queuePair;
    }

    private synchronized void keep(OwnQueuePair created) throws RdmaException {
        if (isClosed) {
            throw IdStateMachine.closed();
        }
        if (own != null) {
            throw hasOne(CREATE);
        }
        own = created;
    }

    private static RdmaException hasOne(String operation) {
        return new RdmaException(Errno.EINVAL, operation, "the id has one already");
    }

    SharedReceiveQueue createShared(@Nullable ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes) throws RdmaException {
        DeviceLease device = addresses.device();
        if (shared != null) {
            throw hasOne(CREATE_SHARED);
        }
        SharedReceiveQueue created = domain(domain, device, CREATE_SHARED)
                .createSharedReceiveQueue(attributes);
        boolean isKept = false;
        try {
            keep(created);
            isKept = true;
        } finally {
            if (!isKept) {
                created.close();
            }
        }
        return created;
    }

    private synchronized void keep(SharedReceiveQueue created) throws RdmaException {
        if (isClosed) {
            throw IdStateMachine.closed();
        }
        if (shared != null) {
            throw hasOne(CREATE_SHARED);
        }
        shared = created;
    }

    private static ProtectionDomain domain(@Nullable ProtectionDomain given, DeviceLease device,
            String operation) throws RdmaException {
        if (given != null && !given.context().equals(device.context())) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the protection domain is of another device or context than the id");
        }
        return given == null ? device.defaultDomain() : given;
    }

    // ---------------------------------------------------------------- what they are

    /** {@return the queue pair, or null if the id has none of its own} */
    @Nullable
    QueuePair queuePair() {
        OwnQueuePair present = own;
        return present == null ? null : present.queuePair;
    }

    boolean exists() {
        return own != null;
    }

    /** {@return whether it had a queue pair, which was closed: true before {@link #queuePair} says that there is none} */
    boolean wasClosed() {
        return wasClosed;
    }

    /** @throws RdmaException EBADF if it has been closed */
    void require() throws RdmaException {
        if (own == null) {
            throw RdmaClosedException.of("queue pair");
        }
    }

    @Nullable
    SharedReceiveQueue shared() {
        return shared;
    }

    // ---------------------------------------------------------------- changing it, if there is one

    /** Brings it up by the steps of a connection. */
    void bringUp(QueuePairBringUp bringUp) throws RdmaException {
        OwnQueuePair present = own;
        if (present != null) {
            bringUp.applyTo(present.queuePair);
        }
    }

    /** Sets its Q_Key, unless it is the default one. */
    void changeQkey(int qkey) throws RdmaException {
        OwnQueuePair present = own;
        if (present != null && qkey != DatagramParameters.UDP_QKEY) {
            present.queuePair.modify(new QueuePairAttributes().qkey(qkey));
        }
    }

    /** Moves it to the error state. */
    void fail() throws RdmaException {
        OwnQueuePair present = own;
        if (present != null) {
            present.fail();
        }
    }

    /** As {@link #fail}, from a thread that cannot report a failure. */
    void failQuietly() {
        try {
            fail();
        } catch (RdmaException | IllegalStateException closing) {
            // The application closes the queue pair at this moment: nothing is left to fail.
        }
    }

    /** The id is being closed: it gets no other queues. Those it has are still to be closed. */
    synchronized void end() {
        isClosed = true;
    }

    void close() throws RdmaException {
        OwnQueuePair present = own;
        if (present != null) {
            present.close();
            wasClosed = true;
            own = null;
        }
    }

    void closeShared() throws RdmaException {
        SharedReceiveQueue present = shared;
        if (present != null) {
            present.close();
            shared = null;
        }
    }
}
