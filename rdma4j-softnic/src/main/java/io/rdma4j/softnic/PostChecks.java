package io.rdma4j.softnic;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;

/** What is checked of a request when it is posted; everything else shows in its completion. */
final class PostChecks {
    private static final String SEND = "post send";
    private static final String RECEIVE = "post receive";

    private PostChecks() {}

    static void check(SendWorkRequest request, QueuePairState state, QueuePairCapabilities sizes)
            throws RdmaException {
        switch (state) {
            case RTS, SQD, SQE, ERR -> {
                // Allowed; in ERR it is flushed.
            }
            case RESET, INIT, RTR -> throw new RdmaException(Errno.EINVAL, SEND,
                    "the queue pair is in state " + state + "; sends need RTS");
        }
        switch (request.opcode()) {
            case SEND, SEND_WITH_IMMEDIATE, RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> {
                // Offered.
            }
            case RDMA_READ -> {
                if (request.has(SendFlag.INLINE)) {
                    throw new RdmaException(Errno.EINVAL, SEND,
                            "a READ has no payload that could be inline");
                }
            }
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, LOCAL_INVALIDATE,
                    BIND_MEMORY_WINDOW, SEND_WITH_INVALIDATE, TSO, DRIVER1, FLUSH, ATOMIC_WRITE ->
                throw RdmaException.unsupported(SEND,
                        "this device does not offer " + request.opcode());
        }
        if (request.has(SendFlag.IP_CHECKSUM)) {
            throw RdmaException.unsupported(SEND, "IP_CHECKSUM is for raw packets");
        }
        if (request.elements().count() > sizes.maxSendElements()) {
            throw new RdmaException(Errno.EINVAL, SEND, "the request has "
                    + request.elements().count() + " elements; the queue pair was created for "
                    + sizes.maxSendElements());
        }
        MemorySegment inline = request.inlineData();
        long length = inline == null ? request.elements().totalLength() : inline.byteSize();
        if (request.has(SendFlag.INLINE) && length > sizes.maxInlineData()) {
            throw new RdmaException(Errno.EINVAL, SEND, "the request has " + length
                    + " bytes of inline data; the queue pair was created for "
                    + sizes.maxInlineData());
        }
        if (length > Limits.MESSAGE) {
            throw new RdmaException(Errno.EMSGSIZE, SEND, "the message has " + length
                    + " bytes; at most " + Limits.MESSAGE + " are possible");
        }
    }

    static void check(ReceiveWorkRequest request, QueuePairState state,
            QueuePairCapabilities sizes) throws RdmaException {
        if (state == QueuePairState.RESET) {
            throw new RdmaException(Errno.EINVAL, RECEIVE,
                    "the queue pair is in state RESET; receives need INIT or later");
        }
        if (request.elements().count() > sizes.maxReceiveElements()) {
            throw new RdmaException(Errno.EINVAL, RECEIVE, "the request has "
                    + request.elements().count() + " elements; the queue pair was created for "
                    + sizes.maxReceiveElements());
        }
    }

    static RdmaException full(boolean isSend, int capacity) {
        return new RdmaException(Errno.ENOMEM, isSend ? SEND : RECEIVE, "the queue is full: all "
                + capacity + " requests are outstanding; take completions first");
    }
}
