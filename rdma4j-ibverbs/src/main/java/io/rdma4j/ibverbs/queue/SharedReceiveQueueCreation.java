// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SharedReceiveQueueInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Checks and creates a shared receive queue by the suitable call of libibverbs.
 *
 * @param given its sizes
 * @param connections the domain whose connections fill it, null except for type XRC
 * @param completions the completion queue of its receives, null except for type XRC
 * @param pointer the address of its {@code ibv_srq}
 */
public record SharedReceiveQueueCreation(SharedReceiveQueueAttributes given,
        @Nullable XrcDomainServices connections, @Nullable NativeCompletionQueue completions,
        long pointer) {
    private static final String CREATE = "create shared receive queue";
    /** Of {@code enum ibv_srq_init_attr_mask}: type, protection domain, XRC domain, completion queue. */
    private static final int XRC_MASK = 0xf;
    private static final int XRC_TYPE = 1;

    /** Under the context's lock. */
    public static SharedReceiveQueueCreation make(DomainServices domain,
            SharedReceiveQueueInitAttributes wanted) throws RdmaException {
        if (wanted.limit() < 0 || wanted.limit() > wanted.maxRequests()) {
            throw new RdmaException(Errno.EINVAL, CREATE, "limit must be from 0 to "
                    + wanted.maxRequests() + ", not " + wanted.limit());
        }
        domain.owner().functions().require(ContextOperation.POST_SRQ_RECV, CREATE);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena
                    .allocate(SharedReceiveQueueInitAttr.EXTENDED_SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, SharedReceiveQueueInitAttr.MAX_WR, wanted.maxRequests());
            Native.putInt(attributes, SharedReceiveQueueInitAttr.MAX_SGE, wanted.maxElements());
            Native.putInt(attributes, SharedReceiveQueueInitAttr.SRQ_LIMIT, wanted.limit());
            return switch (wanted.type()) {
                case BASIC -> basic(domain, wanted, attributes);
                case XRC -> ofConnections(domain, wanted, attributes);
            };
        }
    }

    private static SharedReceiveQueueCreation basic(DomainServices domain,
            SharedReceiveQueueInitAttributes wanted, MemorySegment attributes)
            throws RdmaException {
        if (wanted.xrcDomain() != null || wanted.completionQueue() != null) {
            throw new RdmaException(Errno.EINVAL, CREATE, "an XRC domain and a completion queue are"
                    + " for type " + SharedReceiveQueueType.XRC + ", not " + wanted.type()
                    + ", whose queue pairs have them");
        }
        long pointer = domain.owner().verbs().get(VerbsSymbol.CREATE_SRQ)
                .call(domain.rootPointer(), attributes.address())
                .pointer(CREATE, advice(wanted));
        return new SharedReceiveQueueCreation(given(wanted, attributes), null, null,
                pointer);
    }

    private static SharedReceiveQueueCreation ofConnections(DomainServices domain,
            SharedReceiveQueueInitAttributes wanted, MemorySegment attributes)
            throws RdmaException {
        ContextServices services = domain.owner();
        services.queries().requireXrc(CREATE);
        XrcDomainServices connections = XrcDomainServices.own(wanted.xrcDomain(), services, CREATE);
        if (wanted.completionQueue() == null) {
            throw new RdmaException(Errno.EINVAL, CREATE,
                    "a shared receive queue of type XRC needs a completion queue");
        }
        NativeCompletionQueue completions = NativeCompletionQueue.own(wanted.completionQueue(),
                services, CREATE, "receives");
        Native.putInt(attributes, SharedReceiveQueueInitAttr.COMP_MASK, XRC_MASK);
        Native.putInt(attributes, SharedReceiveQueueInitAttr.SRQ_TYPE, XRC_TYPE);
        Native.putLong(attributes, SharedReceiveQueueInitAttr.PD, domain.rootPointer());
        Native.putLong(attributes, SharedReceiveQueueInitAttr.XRCD, connections.pointer());
        Native.putLong(attributes, SharedReceiveQueueInitAttr.CQ, completions.pointer());
        long pointer = services.functions().require(ContextOperation.CREATE_SRQ_EX, CREATE)
                .call(services.pointer(), attributes.address())
                .pointer(CREATE, advice(wanted));
        return new SharedReceiveQueueCreation(given(wanted, attributes), connections,
                completions, pointer);
    }

    private static String advice(SharedReceiveQueueInitAttributes wanted) {
        return "the device refused " + wanted.maxRequests() + " requests of " + wanted.maxElements()
                + " elements; ibv_devinfo -v shows its max_srq, max_srq_wr and max_srq_sge";
    }

    /** {@return the actual sizes; some drivers do not report numbers that they do not change} */
    private static SharedReceiveQueueAttributes given(SharedReceiveQueueInitAttributes asked,
            MemorySegment told) {
        return new SharedReceiveQueueAttributes(
                Math.max(asked.maxRequests(),
                        Native.getInt(told, SharedReceiveQueueInitAttr.MAX_WR)),
                Math.max(asked.maxElements(),
                        Native.getInt(told, SharedReceiveQueueInitAttr.MAX_SGE)),
                asked.limit());
    }
}
