// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The checked specification of a new queue pair.
 *
 * @param type its transport service
 * @param sendQueue the completion queue of sends
 * @param receiveQueue the completion queue of receives
 * @param sharedReceives the shared receive queue that replaces its own, or null
 * @param offered the operations that its type supports
 * @param capabilities the sizes of its queues
 * @param signalAll whether every send is signaled
 * @param sendOperations the operations that may be posted piece by piece, or null if none may
 * @param blocksMulticastLoopback whether it does not receive its own multicasts
 * @param answerFirst whether requests may leave before acknowledgements
 * @param userContext the caller's object
 */
record QueuePairSpec(QueuePairType type, SoftCompletionQueue sendQueue,
        SoftCompletionQueue receiveQueue, @Nullable SoftSharedReceiveQueue sharedReceives,
        Set<SendOpcode> offered, QueuePairCapabilities capabilities, boolean signalAll,
        @Nullable Set<SendOpcode> sendOperations, boolean blocksMulticastLoopback,
        boolean answerFirst, @Nullable Object userContext) {
    private static final String OPERATION = "create queue pair";

    /** Checks the requested attributes. */
    static QueuePairSpec of(SoftDomainServices domain, QueuePairInitAttributes wanted)
            throws RdmaException {
        Transport transport = domain.nic().transport();
        Set<SendOpcode> offered = transport.operations(wanted.type());
        if (offered.isEmpty()) {
            throw RdmaException.unsupported(OPERATION, "this device offers types "
                    + offeredTypes(transport) + ", not " + wanted.type());
        }
        SoftSharedReceiveQueue shared = own(domain, wanted.sharedReceiveQueue());
        QueuePairCapabilities sizes = shared == null
                ? wanted.capabilities()
                : wanted.capabilities().withoutReceives();
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
        Set<SendOpcode> operations = wanted.sendOperations();
        if (operations != null) {
            for (SendOpcode operation : operations) {
                if (!offered.contains(operation)) {
                    throw transport.notOffered(OPERATION, wanted.type(), operation);
                }
            }
        }
        return new QueuePairSpec(wanted.type(),
                own(domain.owner(), wanted.sendCompletionQueue(), "send"),
                own(domain.owner(), wanted.receiveCompletionQueue(), "receive"),
                shared, offered, sizes, wanted.signalAll(), operations,
                wanted.blockSelfMulticastLoopback(), wanted.answerFirst(), wanted.userContext());
    }

    private static String offeredTypes(Transport transport) {
        List<String> types = Arrays.stream(QueuePairType.values())
                .filter(type -> !transport.operations(type).isEmpty()).map(Enum::name).toList();
        int last = types.size() - 1;
        return last < 1
                ? String.join("", types)
                : String.join(", ", types.subList(0, last)) + " and " + types.get(last);
    }

    private static SoftCompletionQueue own(SoftContextServices context,
            @Nullable CompletionQueue queue, String which) throws RdmaException {
        if (!(queue instanceof SoftCompletionQueue own) || !own.owner().equals(context)) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the " + which + " completion queue is "
                            + (queue == null ? "missing" : "of another device context"));
        }
        own.checkOpen();
        return own;
    }

    private static @Nullable SoftSharedReceiveQueue own(SoftDomainServices domain,
            @Nullable SharedReceiveQueue queue) throws RdmaException {
        if (queue == null) {
            return null;
        }
        if (!(queue instanceof SoftSharedReceiveQueue own)
                || !own.owner().root().equals(domain.root())) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the shared receive queue is of another protection domain");
        }
        own.checkOpen();
        return own;
    }

    /** {@return the attributes that would create an equal queue pair} */
    QueuePairInitAttributes initAttributes() {
        QueuePairInitAttributes made = new QueuePairInitAttributes().type(type)
                .sendCompletionQueue(sendQueue).receiveCompletionQueue(receiveQueue)
                .sharedReceiveQueue(sharedReceives).capabilities(capabilities).signalAll(signalAll)
                .blockSelfMulticastLoopback(blocksMulticastLoopback).answerFirst(answerFirst)
                .userContext(userContext);
        if (sendOperations != null) {
            made.sendOperations(sendOperations.toArray(SendOpcode[]::new));
        }
        return made;
    }

    /** {@return the bytes that a send request carries with it at most} */
    int inlineSize() {
        // An atomic write that is posted piece by piece always has its 8 bytes inline.
        return sendOperations != null && sendOperations.contains(SendOpcode.ATOMIC_WRITE)
                ? Math.max(Long.BYTES, capabilities.maxInlineData())
                : capabilities.maxInlineData();
    }
}
