// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.OwnedObjects;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * The multicast groups that a queue pair is attached to. Groups of InfiniBand have a LID, which the connection manager knows
 * for the groups that its ids have joined.
 */
public final class GroupAttachments implements OwnedObjects.Owned {
    /** IBTA 4.1.3. */
    private static final int FIRST_LID = 0xc000;
    private static final int LAST_LID = 0xfffe;

    private final QueuePairServices queuePair;
    private final ContextServices services;
    /** Each with the LID that it was attached by. */
    private final Map<Gid, Integer> groups = new HashMap<>();

    GroupAttachments(QueuePairServices queuePair, ContextServices services) {
        this.queuePair = queuePair;
        this.services = services;
    }

    /** Attaches the queue pair by the LID that the connection manager knows, or 0. */
    public void attach(Gid group) throws RdmaException {
        attachBy(group, () -> services.groupLid(group, queuePair.port()));
    }

    public void attach(Gid group, int lid) throws RdmaException {
        queuePair.checkOpen();
        if (lid != 0 && (lid < FIRST_LID || lid > LAST_LID)) {
            throw new RdmaException(Errno.EINVAL, "attach multicast", String.format(Locale.ROOT,
                    "0x%x is no multicast LID; those are 0x%x to 0x%x, and 0 on Ethernet", lid,
                    FIRST_LID, LAST_LID));
        }
        attachBy(group, () -> lid);
    }

    private void attachBy(Gid group, IntSupplier lidOfGroup) throws RdmaException {
        queuePair.checkOpen();
        checkGroup(group, "attach multicast");
        services.lock();
        try {
            queuePair.checkOpen();
            if (!groups.containsKey(group)) {
                int lid = lidOfGroup.getAsInt();
                callForGroup(VerbsSymbol.ATTACH_MCAST, group, lid, "attach multicast");
                groups.put(group, lid);
                services.owned().add(ObjectKind.MULTICAST_GROUP, this);
            }
        } finally {
            services.unlock();
        }
    }

    public void detach(Gid group) throws RdmaException {
        queuePair.checkOpen();
        checkGroup(group, "detach multicast");
        services.lock();
        try {
            queuePair.checkOpen();
            Integer lid = groups.get(group);
            if (lid == null) {
                throw new RdmaException(Errno.EINVAL, "detach multicast",
                        "the queue pair has not joined " + group.addressText());
            }
            callForGroup(VerbsSymbol.DETACH_MCAST, group, lid, "detach multicast");
            groups.remove(group);
            forgetIfNone();
        } finally {
            services.unlock();
        }
    }

    /** Leaves all groups. */
    @Override
    public void close() throws RdmaException {
        services.lock();
        try {
            for (Gid group : List.copyOf(groups.keySet())) {
                detach(group);
            }
        } finally {
            services.unlock();
        }
    }

    /** Under the context's lock. */
    private void forgetIfNone() {
        if (groups.isEmpty()) {
            services.owned().remove(ObjectKind.MULTICAST_GROUP, this);
        }
    }

    private void checkGroup(Gid group, String operation) throws RdmaException {
        if (queuePair.type() != QueuePairType.UD || !group.isMulticast()) {
            throw new RdmaException(Errno.EINVAL, operation, queuePair.type() != QueuePairType.UD
                    ? "groups are for queue pairs of type UD, not " + queuePair.type()
                    : group.addressText() + " is no multicast address");
        }
    }

    private void callForGroup(VerbsSymbol symbol, Gid group, int lid, String operation)
            throws RdmaException {
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment gid = ofCall.allocate(2 * Long.BYTES, 8);
            Paths.writeGid(gid, 0, group);
            services.verbs().get(symbol).call(queuePair.pointer(), gid.address(), lid).check(
                    operation, "the device refused " + group.addressText()
                            + "; ibv_devinfo -v shows its max_mcast_grp, and on InfiniBand the LID"
                            + " has to be given, or an id to have joined the group"
                            + " (CmId.joinMulticast)");
        }
    }

    /** @throws RdmaException EBUSY if there are any. Under the context's lock. */
    public void requireNone(String operation) throws RdmaException {
        if (!groups.isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation, "it is attached to "
                    + groups.size() + " multicast group(s); detach it first");
        }
    }
}
