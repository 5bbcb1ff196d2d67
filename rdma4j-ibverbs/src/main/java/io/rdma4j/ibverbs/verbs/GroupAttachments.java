package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/** The multicast groups a queue pair is attached to. */
final class GroupAttachments {
    private final NativeQueuePair queuePair;
    private final NativeContext context;
    private final Set<Gid> groups = new HashSet<>();

    GroupAttachments(NativeQueuePair queuePair, NativeContext context) {
        this.queuePair = queuePair;
        this.context = context;
    }

    void attach(Gid group) throws RdmaException {
        checkGroup(group, "attach multicast");
        context.lock();
        try {
            queuePair.checkOpen();
            if (!groups.contains(group)) {
                callForGroup(VerbsSymbol.ATTACH_MCAST, group, "attach multicast");
                groups.add(group);
            }
        } finally {
            context.unlock();
        }
    }

    void detach(Gid group) throws RdmaException {
        checkGroup(group, "detach multicast");
        context.lock();
        try {
            queuePair.checkOpen();
            if (!groups.contains(group)) {
                throw new RdmaException(Errno.EINVAL, "detach multicast",
                        "the queue pair has not joined " + group.addressText());
            }
            callForGroup(VerbsSymbol.DETACH_MCAST, group, "detach multicast");
            groups.remove(group);
        } finally {
            context.unlock();
        }
    }

    private void checkGroup(Gid group, String operation) throws RdmaException {
        if (queuePair.type() != QueuePairType.UD || !group.isMulticast()) {
            throw new RdmaException(Errno.EINVAL, operation, queuePair.type() != QueuePairType.UD
                    ? "groups are for queue pairs of type UD, not " + queuePair.type()
                    : group.addressText() + " is no multicast address");
        }
    }

    private void callForGroup(VerbsSymbol symbol, Gid group, String operation)
            throws RdmaException {
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment gid = ofCall.allocate(2 * Long.BYTES, 8);
            Paths.writeGid(gid, 0, group);
            context.verbs().get(symbol).call(queuePair.pointer(), gid.address(), 0).check(operation,
                    "the device refused " + group.addressText()
                            + "; ibv_devinfo -v shows its max_mcast_grp");
        }
    }

    /** @throws RdmaException EBUSY if there are any. Under the context's lock. */
    void requireNone(String operation) throws RdmaException {
        if (!groups.isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation, "it is attached to "
                    + groups.size() + " multicast group(s); detach it first");
        }
    }
}
