package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.util.Set;

/**
 * A queue pair that was asked for and can be made.
 *
 * @param type its transport service
 * @param sendQueue where sends complete
 * @param receiveQueue where receives complete
 * @param sharedReceives what it draws receives from instead of a queue of its own, or null
 * @param capabilities the sizes of its queues
 * @param signalAll whether every send is signaled
 * @param sendOperations what may be posted piece by piece, or null if that is not wanted
 * @param blocksMulticastLoopback whether its own multicasts are kept from it
 * @param userContext the caller's object
 */
record QueuePairSpec(QueuePairType type, SoftCompletionQueue sendQueue,
        SoftCompletionQueue receiveQueue, @Nullable SoftSharedReceiveQueue sharedReceives,
        QueuePairCapabilities capabilities, boolean signalAll,
        @Nullable Set<SendOpcode> sendOperations, boolean blocksMulticastLoopback,
        @Nullable Object userContext) {
    private static final String OPERATION = "create queue pair";

    /** Checks what is asked for. */
    static QueuePairSpec of(SoftProtectionDomain domain, QueuePairInitAttributes wanted)
            throws RdmaException {
        switch (wanted.type()) {
            case RC, UC, UD -> {
                // Offered.
            }
            case RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> throw RdmaException.unsupported(
                    OPERATION, "this device offers types RC, UC and UD, not " + wanted.type());
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
        Set<SendOpcode> operations = wanted.sendOperations();
        if (operations != null) {
            for (SendOpcode operation : operations) {
                PostChecks.checkOffered(OPERATION, wanted.type(), operation);
            }
        }
        return new QueuePairSpec(wanted.type(),
                own(domain.owner(), wanted.sendCompletionQueue(), "send"),
                own(domain.owner(), wanted.receiveCompletionQueue(), "receive"),
                own(domain, wanted.sharedReceiveQueue()), sizes, wanted.signalAll(), operations,
                wanted.blockSelfMulticastLoopback(), wanted.userContext());
    }

    private static SoftCompletionQueue own(SoftDeviceContext context,
            @Nullable CompletionQueue queue, String which) throws RdmaException {
        if (!(queue instanceof SoftCompletionQueue own) || !own.owner().equals(context)) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the " + which + " completion queue is "
                            + (queue == null ? "missing" : "of another device context"));
        }
        own.checkOpen();
        return own;
    }

    private static @Nullable SoftSharedReceiveQueue own(SoftProtectionDomain domain,
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

    /** {@return what would make another one like it} */
    QueuePairInitAttributes initAttributes() {
        QueuePairInitAttributes made = new QueuePairInitAttributes().type(type)
                .sendCompletionQueue(sendQueue).receiveCompletionQueue(receiveQueue)
                .sharedReceiveQueue(sharedReceives).capabilities(capabilities).signalAll(signalAll)
                .blockSelfMulticastLoopback(blocksMulticastLoopback).userContext(userContext);
        if (sendOperations != null) {
            made.sendOperations(sendOperations.toArray(SendOpcode[]::new));
        }
        return made;
    }

    Opcode.Service service() {
        return switch (type) {
            case RC -> Opcode.Service.RC;
            case UC -> Opcode.Service.UC;
            case UD -> Opcode.Service.UD;
            case RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> throw new IllegalArgumentException(
                    type + " is not offered");
        };
    }

    /** {@return the bytes that a send request carries with it at most} */
    int inlineSize() {
        // An atomic write piece by piece carries its 8 bytes with it, whatever else is inline.
        return sendOperations != null && sendOperations.contains(SendOpcode.ATOMIC_WRITE)
                ? Math.max(Long.BYTES, capabilities.maxInlineData())
                : capabilities.maxInlineData();
    }
}
