// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.values.QueuePairValues;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueType;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

/**
 * Checks and creates a queue pair by the suitable call of libibverbs.
 *
 * @param initial the requested attributes, with the actual sizes
 * @param sends the completion queue of sends
 * @param receives the completion queue of receives, null for a type without receives
 * @param shared the shared receive queue, null for its own queue
 * @param offered its operations
 * @param pointer the address of its {@code ibv_qp}
 * @param extended posts operations that {@code ibv_post_send} cannot post, null if there are none
 */
public record QueuePairCreation(QueuePairInitAttributes initial, NativeCompletionQueue sends,
        @Nullable NativeCompletionQueue receives, @Nullable NativeSharedReceiveQueue shared,
        Set<SendOpcode> offered, long pointer, @Nullable ExtendedPosting extended) {
    private static final String CREATE = "create queue pair";
    private static final int PD_MASK = 1;
    private static final int CREATE_FLAGS_MASK = 1 << 2;
    private static final long WITH_FLUSH = 1 << 11;
    private static final long WITH_ATOMIC_WRITE = 1 << 12;
    private static final int SEND_OPS_MASK = 1 << 6;
    private static final int BLOCK_SELF_MULTICAST = 1 << 1;
    /** More than any device supports; a larger number of a driver is wrong. */
    private static final int MOST_REQUESTS = 1 << 24;
    private static final int MOST_ELEMENTS = 1 << 12;
    /** In bytes. */
    private static final int MOST_INLINE = 1 << 16;

    /** Under the context's lock. */
    public static QueuePairCreation make(DomainServices domain, QueuePairInitAttributes wanted)
            throws RdmaException {
        ContextServices services = domain.owner();
        NativeCompletionQueue sends = NativeCompletionQueue.own(wanted.sendCompletionQueue(),
                services, CREATE, "sends");
        NativeCompletionQueue receives = hasReceives(wanted)
                ? NativeCompletionQueue.own(wanted.receiveCompletionQueue(), services, CREATE,
                        "receives")
                : null;
        NativeSharedReceiveQueue shared = shared(wanted, domain);
        Set<SendOpcode> offered = offered(services, wanted);
        QueuePairCapabilities asked = asked(wanted);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena
                    .allocate(QueuePairInitAttr.EXTENDED_SIZE + Layout.SLACK, 8);
            Native.putLong(attributes, QueuePairInitAttr.SEND_CQ, sends.pointer());
            Native.putLong(attributes, QueuePairInitAttr.RECV_CQ,
                    receives == null ? 0 : receives.pointer());
            Native.putLong(attributes, QueuePairInitAttr.SRQ,
                    shared == null ? 0 : shared.pointer());
            QueuePairValues.writeCapabilities(attributes, QueuePairInitAttr.MAX_SEND_WR,
                    asked);
            Native.putInt(attributes, QueuePairInitAttr.QP_TYPE, wanted.type().code());
            Native.putInt(attributes, QueuePairInitAttr.SQ_SIG_ALL, wanted.signalAll() ? 1 : 0);
            long pointer = call(domain, wanted, asked, attributes);
            QueuePairInitAttributes initial = new QueuePairInitAttributes(wanted);
            QueuePairCapabilities given = given(asked, QueuePairValues
                    .readCapabilities(attributes, QueuePairInitAttr.MAX_SEND_WR));
            // Some drivers report what a queue pair with a shared receive queue would have without it.
            initial.capabilities(hasOwnReceives(wanted) ? given : given.withoutReceives());
            return new QueuePairCreation(initial, sends, receives, shared, offered, pointer,
                    extended(services, offered, pointer));
        }
    }

    private static boolean hasReceives(QueuePairInitAttributes wanted) {
        return wanted.type() != QueuePairType.XRC_SEND;
    }

    private static boolean hasOwnReceives(QueuePairInitAttributes wanted) {
        return hasReceives(wanted) && wanted.sharedReceiveQueue() == null;
    }

    private static QueuePairCapabilities asked(QueuePairInitAttributes wanted) {
        QueuePairCapabilities sizes = wanted.capabilities();
        return hasOwnReceives(wanted) ? sizes : sizes.withoutReceives();
    }

    private static Set<SendOpcode> offered(ContextServices services, QueuePairInitAttributes wanted)
            throws RdmaException {
        switch (wanted.type()) {
            case XRC_SEND -> services.queries().requireXrc(CREATE);
            case XRC_RECEIVE -> {
                services.queries().requireXrc(CREATE);
                throw new RdmaException(Errno.EINVAL, CREATE, "queue pairs of type XRC_RECEIVE are"
                        + " of no protection domain; XrcDomain.createQueuePair makes them");
            }
            default -> {
                // Each device supports some of them.
            }
        }
        boolean isIwarp = services.isIwarp();
        Set<SendOpcode> offered = SendChecks.operations(wanted.type(), isIwarp);
        if (offered.isEmpty() || (isIwarp && wanted.type() != QueuePairType.RC)) {
            throw RdmaException.unsupported(CREATE,
                    "queue pairs of type " + wanted.type() + " are not to be had on this device");
        }
        if (!Collections.disjoint(offered, SendChecks.ATOMICS)
                && !services.queries().hasAtomics()) {
            offered = EnumSet.copyOf(offered);
            offered.removeAll(SendChecks.ATOMICS);
        }
        Set<SendOpcode> operations = wanted.sendOperations();
        if (operations != null && wanted.type() == QueuePairType.RC
                && !Collections.disjoint(operations, ExtendedPosting.OPERATIONS)) {
            offered = EnumSet.copyOf(offered);
            for (SendOpcode extended : ExtendedPosting.OPERATIONS) {
                if (operations.contains(extended) && services.queries().has(extended)) {
                    offered.add(extended);
                }
            }
        }
        if (operations != null && !offered.containsAll(operations)) {
            Set<SendOpcode> missing = new HashSet<>(operations);
            missing.removeAll(offered);
            throw RdmaException.unsupported(CREATE, "queue pairs of type " + wanted.type()
                    + " of this device cannot do " + missing);
        }
        return offered;
    }

    /** {@return the posting of operations that only extended queue pairs have; frees the queue pair on failure} */
    private static @Nullable ExtendedPosting extended(ContextServices services,
            Set<SendOpcode> offered, long pointer) throws RdmaException {
        if (Collections.disjoint(offered, ExtendedPosting.OPERATIONS)) {
            return null;
        }
        ExtendedPosting posting = null;
        try {
            posting = new ExtendedPosting(services, pointer, offered);
            return posting;
        } finally {
            if (posting == null) {
                services.verbs().get(VerbsSymbol.DESTROY_QP).call(pointer);
            }
        }
    }

    private static @Nullable NativeSharedReceiveQueue shared(QueuePairInitAttributes wanted,
            DomainServices domain) throws RdmaException {
        SharedReceiveQueue queue = wanted.sharedReceiveQueue();
        if (queue == null) {
            return null;
        }
        if (!hasReceives(wanted) || queue.type() == SharedReceiveQueueType.XRC) {
            throw new RdmaException(Errno.EINVAL, CREATE, hasReceives(wanted)
                    ? "a shared receive queue of type XRC is filled by what connections of its"
                            + " domain bring in; a queue pair draws from one of type BASIC"
                    : "queue pairs of type " + wanted.type() + " receive nothing, so they have no"
                            + " shared receive queue");
        }
        if (queue instanceof NativeSharedReceiveQueue own && own.owner().isOneWith(domain)) {
            own.checkOpen();
            return own;
        }
        throw new RdmaException(Errno.EINVAL, CREATE,
                "the shared receive queue is of another protection domain");
    }

    private static long call(DomainServices domain, QueuePairInitAttributes wanted,
            QueuePairCapabilities asked, MemorySegment attributes) throws RdmaException {
        ContextServices services = domain.owner();
        String advice = "the device refused " + wanted.type() + " with " + asked.maxSendRequests()
                + " sends of " + asked.maxSendElements() + " elements, "
                + asked.maxReceiveRequests() + " receives of " + asked.maxReceiveElements()
                + " and " + asked.maxInlineData() + " bytes inline; ibv_devinfo -v shows its"
                + " max_qp, max_qp_wr and max_sge, and memory for queues counts against ulimit -l";
        Set<SendOpcode> operations = wanted.sendOperations();
        long extended = operations == null ? 0 : operationFlags(operations);
        boolean isBlocking = wanted.blockSelfMulticastLoopback();
        if (extended == 0 && !isBlocking) {
            return Privileges.pointer(services.verbs().get(VerbsSymbol.CREATE_QP)
                    .call(domain.pointer(), attributes.address()), CREATE, advice);
        }
        NativeFunction function = services.functions().require(ContextOperation.CREATE_QP_EX,
                CREATE);
        Native.putInt(attributes, QueuePairInitAttr.COMP_MASK, PD_MASK
                | (isBlocking ? CREATE_FLAGS_MASK : 0) | (extended == 0 ? 0 : SEND_OPS_MASK));
        Native.putLong(attributes, QueuePairInitAttr.PD, domain.pointer());
        Native.putInt(attributes, QueuePairInitAttr.CREATE_FLAGS,
                isBlocking ? BLOCK_SELF_MULTICAST : 0);
        Native.putLong(attributes, QueuePairInitAttr.SEND_OPS_FLAGS, extended);
        return function.call(services.pointer(), attributes.address()).pointer(CREATE, advice);
    }

    /** {@return the flags of {@code enum ibv_qp_create_send_ops_flags} for the operations} */
    private static long operationFlags(Set<SendOpcode> operations) {
        return (operations.contains(SendOpcode.FLUSH) ? WITH_FLUSH : 0)
                | (operations.contains(SendOpcode.ATOMIC_WRITE) ? WITH_ATOMIC_WRITE : 0);
    }

    /** {@return the actual sizes} */
    private static QueuePairCapabilities given(QueuePairCapabilities asked,
            QueuePairCapabilities told) {
        return new QueuePairCapabilities(
                given(asked.maxSendRequests(), told.maxSendRequests(), MOST_REQUESTS),
                given(asked.maxReceiveRequests(), told.maxReceiveRequests(), MOST_REQUESTS),
                given(asked.maxSendElements(), told.maxSendElements(), MOST_ELEMENTS),
                given(asked.maxReceiveElements(), told.maxReceiveElements(), MOST_ELEMENTS),
                given(asked.maxInlineData(), told.maxInlineData(), MOST_INLINE));
    }

    /**
     * {@return the actual size for a requested one; drivers provide more, or report nothing if they do not change it}
     */
    private static int given(int asked, int told, int most) {
        return told > most ? asked : Math.max(asked, told);
    }
}
