package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/**
 * What is checked of a send request before a driver's library sees it: some index tables with what they are given, or
 * leave a refused request in their ring.
 */
final class SendChecks {
    static final String OPERATION = "post send";

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

    private SendChecks() {}

    /** {@return what queue pairs of a type can do by {@code ibv_post_send}} */
    static Set<SendOpcode> operations(QueuePairType type, boolean isIwarp) {
        return switch (type) {
            case RC, XRC_SEND -> isIwarp ? IWARP : RELIABLE;
            case UC -> UNRELIABLE;
            case UD -> DATAGRAMS;
            case RAW_PACKET -> EnumSet.of(SendOpcode.SEND);
            case XRC_RECEIVE, DRIVER -> EnumSet.noneOf(SendOpcode.class);
        };
    }

    /** {@return bytes of payload} */
    static long length(SendWorkRequest request) {
        MemorySegment inline = request.inlineData();
        return inline == null ? request.elements().totalLength() : inline.byteSize();
    }

    /**
     * Checks a request.
     *
     * @param offered what the queue pair can do
     * @param longest the longest message
     */
    static void check(SendWorkRequest request, QueuePairState state, QueuePairType type,
            Set<SendOpcode> offered, QueuePairCapabilities sizes, long longest)
            throws RdmaException {
        switch (state) {
            case RTS, SQD, SQE, ERR -> {
                // Allowed; in SQE and ERR it is flushed.
            }
            case RESET, INIT, RTR -> throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the queue pair is in state " + state + "; sends need RTS");
        }
        if (!offered.contains(request.opcode())) {
            // Another type of queue pair could, or none of this device.
            boolean isOfAnotherType = !offered.equals(IWARP)
                    && RELIABLE.contains(request.opcode());
            throw new RdmaException(isOfAnotherType ? Errno.EINVAL : Errno.EOPNOTSUPP, OPERATION,
                    "queue pairs of type " + type + " of this device cannot do "
                            + request.opcode());
        }
        if (request.has(SendFlag.FENCE) && type != QueuePairType.RC
                && type != QueuePairType.XRC_SEND) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "FENCE is for queue pairs of type RC, not " + type);
        }
        if (request.elements().count() > sizes.maxSendElements()) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "the request has "
                    + request.elements().count() + " elements; the queue pair was created for "
                    + sizes.maxSendElements());
        }
        checkLength(request, sizes, longest);
    }

    private static void checkLength(SendWorkRequest request, QueuePairCapabilities sizes,
            long longest) throws RdmaException {
        long length = length(request);
        if (request.opcode() == SendOpcode.ATOMIC_WRITE && length != Long.BYTES) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "an atomic write has 8 bytes, not " + length);
        }
        if (length > longest) {
            throw new RdmaException(Errno.EMSGSIZE, OPERATION, "the message has " + length
                    + " bytes; at most " + longest + " are possible");
        }
        if (!request.has(SendFlag.INLINE)) {
            return;
        }
        switch (request.opcode()) {
            case RDMA_READ, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, FLUSH ->
                throw new RdmaException(
                        Errno.EINVAL, OPERATION,
                        "INLINE is for payload that is sent, and " + request.opcode()
                                + " sends none");
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
