// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.PostRules;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;

import java.util.EnumSet;
import java.util.Set;

/**
 * The checks of a send request before it is passed to a driver's library: some libraries use unchecked values as table
 * indexes, or leave a refused request in their ring. Each value is read once from the request, so that the checked value
 * is the written one: otherwise a thread that changes the request meanwhile could cause a write beyond its memory.
 */
public final class SendChecks {
    static final String OPERATION = PostRules.SEND;

    /** The operations that a device supports or lacks as a group. */
    static final Set<SendOpcode> ATOMICS = Set.of(SendOpcode.ATOMIC_COMPARE_AND_SWAP,
            SendOpcode.ATOMIC_FETCH_AND_ADD);
    private static final Set<SendOpcode> DATAGRAMS = EnumSet.of(SendOpcode.SEND,
            SendOpcode.SEND_WITH_IMMEDIATE);
    private static final Set<SendOpcode> UNRELIABLE = EnumSet.of(SendOpcode.SEND,
            SendOpcode.SEND_WITH_IMMEDIATE, SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, SendOpcode.SEND_WITH_INVALIDATE,
            SendOpcode.BIND_MEMORY_WINDOW, SendOpcode.LOCAL_INVALIDATE);
    private static final Set<SendOpcode> RELIABLE = EnumSet.of(SendOpcode.SEND,
            SendOpcode.SEND_WITH_IMMEDIATE, SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, SendOpcode.SEND_WITH_INVALIDATE,
            SendOpcode.BIND_MEMORY_WINDOW, SendOpcode.LOCAL_INVALIDATE, SendOpcode.RDMA_READ,
            SendOpcode.ATOMIC_COMPARE_AND_SWAP, SendOpcode.ATOMIC_FETCH_AND_ADD);
    private static final Set<SendOpcode> IWARP = EnumSet.of(SendOpcode.SEND,
            SendOpcode.RDMA_WRITE, SendOpcode.SEND_WITH_INVALIDATE, SendOpcode.RDMA_READ,
            SendOpcode.LOCAL_INVALIDATE);

    private final QueuePairServices queuePair;
    private final QueuePairType type;
    private final Set<SendOpcode> offered;
    private final QueuePairCapabilities sizes;
    /** The maximum message length, and the port that defines it. */
    private long longest;
    private int port;

    /** @param offered the operations of the queue pair */
    SendChecks(QueuePairServices queuePair, Set<SendOpcode> offered) throws RdmaException {
        this.queuePair = queuePair;
        this.offered = offered;
        type = queuePair.type();
        sizes = queuePair.capabilities();
        port = queuePair.port();
        longest = queuePair.longestMessage();
    }

    /** {@return the operations of a type of queue pair with {@code ibv_post_send}} */
    static Set<SendOpcode> operations(QueuePairType type, boolean isIwarp) {
        return switch (type) {
            case RC, XRC_SEND -> isIwarp ? IWARP : RELIABLE;
            case UC -> UNRELIABLE;
            case UD -> DATAGRAMS;
            case RAW_PACKET -> EnumSet.of(SendOpcode.SEND);
            case XRC_RECEIVE, DRIVER -> EnumSet.noneOf(SendOpcode.class);
        };
    }

    /** @throws RdmaException unless the queue pair can do an operation in the state that it is in */
    void checkOperation(SendOpcode opcode, int flags, String operation) throws RdmaException {
        PostRules.requireSendState(queuePair.state(), operation);
        if (!offered.contains(opcode)) {
            // Another type of queue pair supports it, or none of this device.
            boolean isOfAnotherType = !offered.equals(IWARP) && RELIABLE.contains(opcode)
                    && !operations(type, false).contains(opcode);
            throw new RdmaException(isOfAnotherType ? Errno.EINVAL : Errno.EOPNOTSUPP, operation,
                    "queue pairs of type " + type + " of this device cannot do " + opcode);
        }
        if ((flags & SendFlag.FENCE.bit()) != 0 && type != QueuePairType.RC
                && type != QueuePairType.XRC_SEND) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "FENCE is for queue pairs of type RC, not " + type);
        }
    }

    /**
     * Checks a request.
     *
     * @param elements how many it has
     * @param length bytes of payload
     */
    public void check(SendOpcode opcode, int flags, int elements, long length)
            throws RdmaException {
        checkOperation(opcode, flags, OPERATION);
        PostRules.requireElements(elements, sizes.maxSendElements(), "queue pair", OPERATION);
        if (opcode == SendOpcode.ATOMIC_WRITE && length != Long.BYTES) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "an atomic write has 8 bytes, not " + length);
        }
        if (length > longest || port != queuePair.port()) {
            askForLongest(length);
        }
        if ((flags & SendFlag.INLINE.bit()) != 0) {
            checkInline(opcode, length);
        }
    }

    /**
     * Queries the limit again: the port may have come up, the queue pair may have another port, or the MTU may have
     * grown.
     */
    private void askForLongest(long length) throws RdmaException {
        port = queuePair.port();
        longest = queuePair.longestMessage();
        if (length > longest) {
            throw new RdmaException(Errno.EMSGSIZE, OPERATION, "the message has " + length
                    + " bytes; at most " + longest + " are possible");
        }
    }

    private void checkInline(SendOpcode opcode, long length) throws RdmaException {
        switch (opcode) {
            case RDMA_READ, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, FLUSH ->
                throw new RdmaException(
                        Errno.EINVAL, OPERATION,
                        "INLINE is for payload that is sent, and " + opcode + " sends none");
            case ATOMIC_WRITE -> {
                // Its bytes are in the request in any case.
            }
            default -> {
                if (length > sizes.maxInlineData()) {
                    throw new RdmaException(Errno.EINVAL, OPERATION, "the inline data has " + length
                            + " bytes; the queue pair was created for " + sizes.maxInlineData());
                }
            }
        }
    }
}
