// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.values.FlowValues;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Flow;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;

/** The flows that a device steers to a queue pair. */
public final class FlowAttachments {
    private static final String ATTACH = "attach flow";

    private final QueuePairServices queuePair;
    private final ContextServices services;
    /** Under the context's lock. */
    private int open;

    FlowAttachments(QueuePairServices queuePair, ContextServices services) {
        this.queuePair = queuePair;
        this.services = services;
    }

    public Flow attach(FlowRule rule) throws RdmaException {
        queuePair.checkOpen();
        if (queuePair.type() != QueuePairType.RAW_PACKET
                && queuePair.type() != QueuePairType.UD) {
            throw new RdmaException(Errno.EINVAL, ATTACH, "flows are for queue pairs of type"
                    + " RAW_PACKET or UD, not " + queuePair.type());
        }
        NativeFunction create = services.functions().require(ContextOperation.CREATE_FLOW, ATTACH);
        NativeFunction destroy = services.functions().require(ContextOperation.DESTROY_FLOW,
                ATTACH);
        services.lock();
        try (Arena arena = Arena.ofConfined()) {
            queuePair.checkOpen();
            long pointer = Privileges.pointer(
                    create.call(queuePair.pointer(), FlowValues.of(rule, arena).address()), ATTACH,
                    "the device refused " + rule + ": it does not steer by such a rule, or has"
                            + " another one like it");
            open++;
            NativeFlow flow = new NativeFlow(rule, pointer, destroy);
            services.owned().add(ObjectKind.FLOW, flow);
            return flow;
        } finally {
            services.unlock();
        }
    }

    /** @throws RdmaException EBUSY if there are any. Under the context's lock. */
    public void requireNone(String operation) throws RdmaException {
        if (open > 0) {
            throw new RdmaException(Errno.EBUSY, operation,
                    open + " flow(s) of it are open; close them first");
        }
    }

    private final class NativeFlow implements Flow {
        private final FlowRule rule;
        private final long pointer;
        private final NativeFunction destroy;
        private boolean isClosed;

        NativeFlow(FlowRule rule, long pointer, NativeFunction destroy) {
            this.rule = rule;
            this.pointer = pointer;
            this.destroy = destroy;
        }

        @Override
        public QueuePair queuePair() {
            return queuePair.queuePair();
        }

        @Override
        public FlowRule rule() {
            return rule;
        }

        @Override
        public void close() throws RdmaException {
            String operation = "close flow";
            services.lock();
            try {
                if (isClosed) {
                    return;
                }
                destroy.call(pointer).check(operation, "the device could not end it");
                isClosed = true;
                open--;
                services.owned().remove(ObjectKind.FLOW, this);
            } finally {
                services.unlock();
            }
        }
    }
}
