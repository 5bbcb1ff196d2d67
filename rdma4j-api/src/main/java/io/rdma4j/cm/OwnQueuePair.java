// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/** The queue pair of an id, with the completion queues and channels made for it. */
final class OwnQueuePair {
    /** How many bytes of inline data it accepts at least. */
    static final int INLINE_DATA = 64;

    final QueuePair queuePair;
    private final @Nullable CompletionQueue ownSendQueue;
    private final @Nullable CompletionQueue ownReceiveQueue;

    private OwnQueuePair(QueuePair queuePair, @Nullable CompletionQueue ownSendQueue,
            @Nullable CompletionQueue ownReceiveQueue) {
        this.queuePair = queuePair;
        this.ownSendQueue = ownSendQueue;
        this.ownReceiveQueue = ownReceiveQueue;
    }

    /** Creates the queue pair, and completion queues with channels where none are given. */
    static OwnQueuePair create(DeviceContext context, ProtectionDomain domain,
            QueuePairInitAttributes wanted) throws RdmaException {
        CompletionQueue ownSendQueue = null;
        CompletionQueue ownReceiveQueue = null;
        boolean isMade = false;
        try {
            CompletionQueue sendQueue = wanted.sendCompletionQueue();
            if (sendQueue == null) {
                ownSendQueue = completionQueue(context, wanted.capabilities().maxSendRequests());
                sendQueue = ownSendQueue;
            }
            CompletionQueue receiveQueue = wanted.receiveCompletionQueue();
            if (receiveQueue == null) {
                ownReceiveQueue = completionQueue(context, receives(wanted));
                receiveQueue = ownReceiveQueue;
            }
            QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes(wanted)
                    .sendCompletionQueue(sendQueue).receiveCompletionQueue(receiveQueue)
                    .capabilities(withInlineData(wanted.capabilities())));
            isMade = true;
            return new OwnQueuePair(queuePair, ownSendQueue, ownReceiveQueue);
        } finally {
            if (!isMade) {
                close(ownSendQueue);
                close(ownReceiveQueue);
            }
        }
    }

    /** {@return how many receives the queue pair can have at most} */
    private static int receives(QueuePairInitAttributes wanted) throws RdmaException {
        SharedReceiveQueue shared = wanted.sharedReceiveQueue();
        return shared == null
                ? wanted.capabilities().maxReceiveRequests()
                : shared.query().maxRequests();
    }

    /** The short forms that send memory without a region need room for it. */
    private static QueuePairCapabilities withInlineData(QueuePairCapabilities wanted) {
        return wanted.maxInlineData() >= INLINE_DATA || wanted.maxSendRequests() == 0
                ? wanted
                : wanted.withInlineData(INLINE_DATA);
    }

    private static CompletionQueue completionQueue(DeviceContext context, int requests)
            throws RdmaException {
        CompletionChannel channel = CompletionChannel.create();
        boolean isMade = false;
        try {
            CompletionQueue queue = context.createCompletionQueue(Math.max(1, requests), channel);
            isMade = true;
            return queue;
        } finally {
            if (!isMade) {
                channel.close();
            }
        }
    }

    private static void close(@Nullable CompletionQueue own) throws RdmaException {
        if (own != null) {
            own.close();
            CompletionChannel channel = own.channel();
            if (channel != null) {
                channel.close();
            }
        }
    }

    /** Moves the queue pair to the error state, unless nothing was ever started on it. */
    void fail() throws RdmaException {
        if (queuePair.state() != QueuePairState.RESET) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
    }

    void close() throws RdmaException {
        queuePair.close();
        close(ownSendQueue);
        close(ownReceiveQueue);
    }
}
