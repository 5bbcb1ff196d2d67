// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.completion;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.CompletionQueueInitAttrEx;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** How completion queues are made: checks what is wanted, and calls the library. */
final class CompletionQueueCreation {
    static final String OPERATION = "create completion queue";
    private static final String ADVICE = " entries; ibv_devinfo -v shows its max_cqe and max_cq, and"
            + " memory for queues counts against ulimit -l";
    private static final Set<CompletionField> ALL_FIELDS = Set.copyOf(EnumSet.range(
            CompletionField.BYTE_LENGTH, CompletionField.DESTINATION_PATH_BITS));
    /** Flags of {@code enum ibv_create_cq_attr_flags}. */
    private static final int SINGLE_THREADED = 1;
    private static final int IGNORE_OVERRUN = 1 << 1;
    /** Flags of {@code enum ibv_cq_init_attr_mask}. */
    private static final int FLAGS_MASK = 1;
    private static final int PARENT_MASK = 1 << 1;

    private CompletionQueueCreation() {}

    /** @throws RdmaException EINVAL for a capacity or vector that cannot be */
    static void check(ContextServices services, CompletionQueueInitAttributes wanted)
            throws RdmaException {
        if (wanted.capacity() < 1) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the capacity must be at least 1, not " + wanted.capacity());
        }
        if (wanted.completionVector() < 0
                || wanted.completionVector() >= Math.max(1, services.completionVectors())) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "the completion vector must be from 0"
                    + " to " + (services.completionVectors() - 1) + ", not "
                    + wanted.completionVector());
        }
    }

    /** {@return whether completions carry times} */
    static boolean hasTimes(CompletionQueueInitAttributes wanted) {
        return wanted.fields().contains(CompletionField.COMPLETION_TIMESTAMP)
                || wanted.fields().contains(CompletionField.COMPLETION_WALLCLOCK);
    }

    /**
     * {@return the address of a new {@code ibv_cq}}
     *
     * @param parent the parent domain, null for none
     * @throws RdmaException what the device refuses
     */
    static long make(ContextServices services, CompletionQueueInitAttributes wanted,
            @Nullable DomainServices parent) throws RdmaException {
        boolean isExtended = wanted.ignoreOverrun() || parent != null || hasTimes(wanted);
        return isExtended ? createExtended(services, wanted, parent)
                : createPlain(services, wanted);
    }

    private static long createPlain(ContextServices services,
            CompletionQueueInitAttributes wanted)
            throws RdmaException {
        return services.verbs().get(VerbsSymbol.CREATE_CQ)
                .call(services.pointer(), wanted.capacity(), 0, services.events().channel(),
                        wanted.completionVector())
                .pointer(OPERATION, "the device refused " + wanted.capacity() + ADVICE);
    }

    private static long createExtended(ContextServices services,
            CompletionQueueInitAttributes wanted, @Nullable DomainServices parent)
            throws RdmaException {
        NativeFunction function = services.functions().require(ContextOperation.CREATE_CQ_EX,
                OPERATION);
        int fields = 0;
        for (CompletionField field : ALL_FIELDS) {
            fields |= field.bit();
        }
        for (CompletionField field : wanted.fields()) {
            fields |= field.bit();
        }
        int flags = (wanted.singleThreaded() ? SINGLE_THREADED : 0)
                | (wanted.ignoreOverrun() ? IGNORE_OVERRUN : 0);
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment attributes = ofCall
                    .allocate(CompletionQueueInitAttrEx.SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, CompletionQueueInitAttrEx.CQE, wanted.capacity());
            Native.putLong(attributes, CompletionQueueInitAttrEx.CHANNEL,
                    services.events().channel());
            Native.putInt(attributes, CompletionQueueInitAttrEx.COMP_VECTOR,
                    wanted.completionVector());
            Native.putLong(attributes, CompletionQueueInitAttrEx.WC_FLAGS, fields);
            Native.putInt(attributes, CompletionQueueInitAttrEx.COMP_MASK,
                    (flags == 0 ? 0 : FLAGS_MASK) | (parent == null ? 0 : PARENT_MASK));
            Native.putInt(attributes, CompletionQueueInitAttrEx.FLAGS, flags);
            Native.putLong(attributes, CompletionQueueInitAttrEx.PARENT_DOMAIN,
                    parent == null ? 0 : parent.pointer());
            return function.call(services.pointer(), attributes.address()).pointer(OPERATION,
                    "the device refused fields " + wanted.fields()
                            + (wanted.ignoreOverrun() ? ", or to ignore an overrun" : "")
                            + (parent == null ? "" : ", or a parent domain") + ", or "
                            + wanted.capacity() + ADVICE);
        }
    }
}
