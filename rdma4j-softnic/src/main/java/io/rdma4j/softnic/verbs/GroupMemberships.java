// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.OwnedObjects;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.util.HashSet;
import java.util.Set;

/** The multicast groups that a queue pair is attached to. */
final class GroupMemberships implements OwnedObjects.Owned {
    private final SoftQueuePairServices queuePair;
    private final EngineQueuePair engineSide;
    private final NicServices nic;
    private final boolean blocksMulticastLoopback;
    private final Set<Gid> groups = new HashSet<>();

    GroupMemberships(SoftQueuePairServices queuePair, boolean blocksMulticastLoopback) {
        this.queuePair = queuePair;
        engineSide = queuePair.engineSide();
        nic = queuePair.domain().nic();
        this.blocksMulticastLoopback = blocksMulticastLoopback;
    }

    void attach(Gid group) throws RdmaException {
        String operation = "attach to multicast group";
        check(operation, group);
        nic.driver().call(nowNs -> {
            queuePair.checkOpen();
            if (groups.contains(group)) {
                return this;
            }
            nic.transport().join(group, engineSide, blocksMulticastLoopback);
            groups.add(group);
            owned().add(ObjectKind.MULTICAST_GROUP, this);
            return this;
        });
    }

    void detach(Gid group) throws RdmaException {
        String operation = "detach from multicast group";
        check(operation, group);
        nic.driver().call(nowNs -> {
            queuePair.checkOpen();
            if (!groups.remove(group)) {
                throw new RdmaException(Errno.EINVAL, operation,
                        "the queue pair is not attached to " + group.addressText());
            }
            nic.transport().leave(group, engineSide);
            forgetIfNone();
            return this;
        });
    }

    /** Leaves all groups. */
    @Override
    public void close() throws RdmaException {
        nic.driver().run(nowNs -> {
            groups.forEach(group -> nic.transport().leave(group, engineSide));
            groups.clear();
            forgetIfNone();
        });
    }

    private void forgetIfNone() {
        if (groups.isEmpty()) {
            owned().remove(ObjectKind.MULTICAST_GROUP, this);
        }
    }

    private OwnedObjects owned() {
        return queuePair.domain().owner().owned();
    }

    private void check(String operation, Gid group) throws RdmaException {
        queuePair.checkOpen();
        if (queuePair.type() != QueuePairType.UD) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "only UD queue pairs can be attached, not " + queuePair.type());
        }
        if (!group.isMulticast()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    group.addressText() + " is no multicast address");
        }
    }

    /** For the engine's owner. */
    void requireNone(String operation) throws RdmaException {
        if (!groups.isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation, "it is attached to " + groups.size()
                    + " multicast group(s); detach it first");
        }
    }
}
