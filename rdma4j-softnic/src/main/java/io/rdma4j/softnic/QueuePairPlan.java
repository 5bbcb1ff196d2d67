package io.rdma4j.softnic;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair that was asked for and can be made.
 *
 * @param type its transport service
 * @param sendQueue where sends complete
 * @param receiveQueue where receives complete
 * @param capabilities the sizes of its queues
 * @param signalAll whether every send is signaled
 * @param userContext the caller's object
 */
record QueuePairPlan(QueuePairType type, SoftCompletionQueue sendQueue,
        SoftCompletionQueue receiveQueue, QueuePairCapabilities capabilities, boolean signalAll,
        @Nullable Object userContext) {
    private static final String OPERATION = "create queue pair";

    /** Checks what is asked for. */
    static QueuePairPlan of(SoftDeviceContext context, QueuePairInitAttributes wanted)
            throws RdmaException {
        if (wanted.type() != QueuePairType.RC) {
            throw RdmaException.unsupported(OPERATION,
                    "this device offers type RC, not " + wanted.type());
        }
        if (wanted.sharedReceiveQueue() != null) {
            throw RdmaException.unsupported(OPERATION, "this device has no shared receive queues");
        }
        QueuePairCapabilities sizes = wanted.capabilities();
        Limits.checkRange(OPERATION, "maxSendRequests", sizes.maxSendRequests(), 0,
                Limits.REQUESTS);
        Limits.checkRange(OPERATION, "maxReceiveRequests", sizes.maxReceiveRequests(), 0,
                Limits.REQUESTS);
        Limits.checkRange(OPERATION, "maxSendElements", sizes.maxSendElements(), 0,
                Limits.ELEMENTS);
        Limits.checkRange(OPERATION, "maxReceiveElements", sizes.maxReceiveElements(), 0,
                Limits.ELEMENTS);
        Limits.checkRange(OPERATION, "maxInlineData", sizes.maxInlineData(), 0,
                Limits.INLINE_DATA);
        return new QueuePairPlan(wanted.type(),
                own(context, wanted.sendCompletionQueue(), "send"),
                own(context, wanted.receiveCompletionQueue(), "receive"), sizes,
                wanted.signalAll(), wanted.userContext());
    }

    private static SoftCompletionQueue own(SoftDeviceContext context,
            @Nullable CompletionQueue queue, String which) throws RdmaException {
        if (!(queue instanceof SoftCompletionQueue own) || !own.owner().equals(context)) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the " + which + " completion queue is "
                            + (queue == null ? "missing" : "of another device context"));
        }
        return own;
    }
}
