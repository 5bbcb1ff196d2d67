package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import org.jspecify.annotations.Nullable;

/** The queue pair and the shared receive queue of an id. */
final class IdQueues {
    private final CmId id;
    private volatile @Nullable IdDataPath path;
    private volatile @Nullable SharedReceiveQueue shared;

    IdQueues(CmId id) {
        this.id = id;
    }

    /** Creates the queue pair, ready for receives; of a datagram service also for sends. */
    QueuePair create(@Nullable ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        DeviceLease device = id.addresses.device();
        if (path != null) {
            throw new RdmaException(Errno.EINVAL, "create queue pair", "the id has one already");
        }
        if (attributes.type() != id.queuePairType()) {
            throw new RdmaException(Errno.EINVAL, "create queue pair",
                    "an id in port space " + id.portSpace() + " takes a queue pair of type "
                            + id.queuePairType() + ", not " + attributes.type());
        }
        ProtectionDomain ofId = domain(domain, device, "create queue pair");
        QueuePairInitAttributes wanted = attributes;
        SharedReceiveQueue own = shared;
        if (own != null && attributes.sharedReceiveQueue() == null) {
            wanted = new QueuePairInitAttributes(attributes).sharedReceiveQueue(own);
        }
        IdDataPath created = IdDataPath.create(device.context(), ofId, wanted);
        try {
            created.queuePair.modify(id.link.attributes(QueuePairState.INIT));
            if (id.queuePairType() == QueuePairType.UD) {
                created.queuePair.modify(id.link.attributes(QueuePairState.RTR));
                created.queuePair.modify(id.link.attributes(QueuePairState.RTS));
            }
        } catch (RdmaException e) {
            created.close();
            throw e;
        }
        path = created;
        return created.queuePair;
    }

    SharedReceiveQueue createShared(@Nullable ProtectionDomain domain, SharedReceiveQueueType type,
            SharedReceiveQueueAttributes attributes, @Nullable Object userContext)
            throws RdmaException {
        String operation = "create shared receive queue";
        DeviceLease device = id.addresses.device();
        if (shared != null) {
            throw new RdmaException(Errno.EINVAL, operation, "the id has one already");
        }
        SharedReceiveQueue created = domain(domain, device, operation)
                .createSharedReceiveQueue(type, attributes, userContext);
        shared = created;
        return created;
    }

    private static ProtectionDomain domain(@Nullable ProtectionDomain given, DeviceLease device,
            String operation) throws RdmaException {
        if (given != null && !given.context().equals(device.context())) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the protection domain is of another device or context than the id");
        }
        return given == null ? device.defaultDomain() : given;
    }

    /** {@return the queue pair, or null if the id has none of its own} */
    @Nullable
    QueuePair queuePair() {
        IdDataPath present = path;
        return present == null ? null : present.queuePair;
    }

    void requireQueuePair() {
        if (path == null) {
            throw new IllegalStateException("the queue pair is closed");
        }
    }

    @Nullable
    SharedReceiveQueue shared() {
        return shared;
    }

    /** Brings the queue pair, if there is one, to RTS as the connection says. */
    void ready() throws RdmaException {
        IdDataPath present = path;
        if (present != null) {
            present.queuePair.modify(id.link.attributes(QueuePairState.INIT));
            present.queuePair.modify(id.link.attributes(QueuePairState.RTR));
            present.queuePair.modify(id.link.attributes(QueuePairState.RTS));
        }
    }

    /** Gives the queue pair of a datagram service, if there is one, another Q_Key. */
    void changeQkey(int qkey) throws RdmaException {
        IdDataPath present = path;
        if (present != null && qkey != DatagramParameters.UDP_QKEY) {
            present.queuePair.modify(new QueuePairAttributes().qkey(qkey));
        }
    }

    /** Moves the queue pair, if there is one, to the error state. */
    void fail() throws RdmaException {
        IdDataPath present = path;
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

    void closeQueuePair() throws RdmaException {
        IdDataPath present = path;
        if (present != null) {
            id.groups.detachAll();
            present.close();
            path = null;
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
