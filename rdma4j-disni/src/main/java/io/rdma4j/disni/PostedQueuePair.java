package io.rdma4j.disni;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A queue pair, with requests that are filled from structures of C at each post: DiSNI's calls change those in place. Thread safe; in
 * steady state it allocates nothing.
 */
final class PostedQueuePair {
    /** {@code struct ibv_send_wr}, as far as DiSNI fills it in. */
    static final int SEND_REQUEST_BYTES = 72;
    static final int REMOTE_ADDRESS = 40;
    static final int RKEY = 48;
    private static final int ID = 0;
    private static final int NEXT = 8;
    private static final int ELEMENTS = 16;
    private static final int ELEMENT_COUNT = 24;
    private static final int OPCODE = 28;
    private static final int FLAGS = 32;
    private static final int IMMEDIATE = 36;
    /** {@code struct ibv_recv_wr}. */
    static final int RECEIVE_REQUEST_BYTES = 32;
    /** {@code struct ibv_sge}. */
    static final int ELEMENT_BYTES = 16;
    private static final int LENGTH = 8;
    private static final int LKEY = 12;

    private static final String POST_SEND = "post send";
    /** By their numbers in C: those that DiSNI fills in. */
    private static final List<SendOpcode> OPCODES = List.of(SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, SendOpcode.SEND, SendOpcode.SEND_WITH_IMMEDIATE,
            SendOpcode.RDMA_READ);
    private static final int KNOWN_FLAGS = SendFlag.FENCE.bit() | SendFlag.SIGNALED.bit()
            | SendFlag.SOLICITED.bit() | SendFlag.INLINE.bit();

    private final QueuePair queuePair;
    private final Object sending = new Object();
    private final List<Send> sends = new ArrayList<>();
    private final List<SendWorkRequest> sendChain = new ArrayList<>();
    private final Object receiving = new Object();
    private final List<ReceiveWorkRequest> receives = new ArrayList<>();
    private final List<ReceiveWorkRequest> receiveChain = new ArrayList<>();

    PostedQueuePair(QueuePair queuePair) {
        this.queuePair = queuePair;
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /** Posts a list of requests. As in C those before one that is refused are posted. */
    void postSend(long first) throws RdmaException {
        synchronized (sending) {
            sendChain.clear();
            try {
                for (long at = first; at != 0; at = CallMemory.readLong(at + NEXT)) {
                    sendChain.add(sendAt(sendChain.size()).filled(at));
                }
            } catch (RdmaException e) {
                postSends();
                throw e;
            }
            postSends();
        }
    }

    private Send sendAt(int index) {
        if (index == sends.size()) {
            sends.add(new Send());
        }
        return sends.get(index);
    }

    private void postSends() throws RdmaException {
        if (sendChain.size() == 1) {
            queuePair.postSend(sendChain.get(0));
        } else if (!sendChain.isEmpty()) {
            queuePair.postSend(sendChain);
        }
    }

    void postReceive(long first) throws RdmaException {
        synchronized (receiving) {
            receiveChain.clear();
            for (long at = first; at != 0; at = CallMemory.readLong(at + NEXT)) {
                receiveChain.add(filled(receiveAt(receiveChain.size()), at));
            }
            if (receiveChain.size() == 1) {
                queuePair.postReceive(receiveChain.get(0));
            } else {
                queuePair.postReceive(receiveChain);
            }
        }
    }

    private ReceiveWorkRequest receiveAt(int index) {
        if (index == receives.size()) {
            receives.add(new ReceiveWorkRequest());
        }
        return receives.get(index);
    }

    private static ReceiveWorkRequest filled(ReceiveWorkRequest request, long at) {
        request.clear().id(CallMemory.readLong(at + ID));
        long element = CallMemory.readLong(at + ELEMENTS);
        int count = CallMemory.readInt(at + ELEMENT_COUNT);
        for (int i = 0; i < count; i++) {
            request.add(CallMemory.readLong(element), lengthOf(element),
                    CallMemory.readInt(element + LKEY));
            element += ELEMENT_BYTES;
        }
        return request;
    }

    private static long lengthOf(long element) {
        return Integer.toUnsignedLong(CallMemory.readInt(element + LENGTH));
    }

    /** A request that is used again and again, with room for its inline data. */
    private final class Send {
        private final SendWorkRequest request = new SendWorkRequest();
        /** The first bytes of one array, by their number, as far as they were used. */
        private MemorySegment[] inlineData = {};

        SendWorkRequest filled(long at) throws RdmaException {
            int code = CallMemory.readInt(at + OPCODE);
            if (code < 0 || code >= OPCODES.size()) {
                throw RdmaException.unsupported(POST_SEND, "DiSNI has WRITE, SEND and READ, which"
                        + " are opcodes 0 to 4; it fills in no operands of opcode " + code
                        + ", such as those of atomics: use rdma4j-api for these");
            }
            int flags = CallMemory.readInt(at + FLAGS);
            if ((flags & ~KNOWN_FLAGS) != 0) {
                throw new RdmaException(Errno.EINVAL, POST_SEND,
                        "there is no send flag 0x" + Integer.toHexString(flags & ~KNOWN_FLAGS));
            }
            SendOpcode opcode = OPCODES.get(code);
            request.clear().id(CallMemory.readLong(at + ID)).opcode(opcode);
            if (opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE
                    || opcode == SendOpcode.SEND_WITH_IMMEDIATE) {
                // The field is big-endian in C; DiSNI writes the program's number as it is.
                request.immediate(Integer.reverseBytes(CallMemory.readInt(at + IMMEDIATE)));
            }
            if (opcode != SendOpcode.SEND && opcode != SendOpcode.SEND_WITH_IMMEDIATE) {
                request.remote(CallMemory.readLong(at + REMOTE_ADDRESS),
                        CallMemory.readInt(at + RKEY));
            }
            long element = CallMemory.readLong(at + ELEMENTS);
            int count = CallMemory.readInt(at + ELEMENT_COUNT);
            if ((flags & SendFlag.INLINE.bit()) == 0) {
                request.flags(flags);
                addElements(element, count);
            } else {
                request.flags(flags & ~SendFlag.INLINE.bit());
                request.inline(gathered(element, count));
            }
            return request;
        }

        private void addElements(long first, int count) {
            long element = first;
            for (int i = 0; i < count; i++) {
                request.add(CallMemory.readLong(element), lengthOf(element),
                        CallMemory.readInt(element + LKEY));
                element += ELEMENT_BYTES;
            }
        }

        /** {@return the bytes of the elements, which may be in any memory of the process} */
        private MemorySegment gathered(long first, int count) throws RdmaException {
            long length = 0;
            for (int i = 0; i < count; i++) {
                length += lengthOf(first + (long) i * ELEMENT_BYTES);
            }
            MemorySegment data = inlineData(length);
            long offset = 0;
            for (int i = 0; i < count; i++) {
                long element = first + (long) i * ELEMENT_BYTES;
                CallMemory.copy(CallMemory.readLong(element), data, offset, lengthOf(element));
                offset += lengthOf(element);
            }
            return data;
        }

        private MemorySegment inlineData(long length) throws RdmaException {
            int most = queuePair.capabilities().maxInlineData();
            if (length > most) {
                throw new RdmaException(Errno.EINVAL, POST_SEND, length + " bytes of inline data"
                        + " are more than the " + most + " that the queue pair was created for");
            }
            if (inlineData.length == 0) {
                inlineData = new MemorySegment[most + 1];
                inlineData[most] = MemorySegment.ofArray(new byte[most]);
            }
            MemorySegment data = inlineData[(int) length];
            if (data == null) {
                data = inlineData[most].asSlice(0, length);
                inlineData[(int) length] = data;
            }
            return data;
        }
    }
}
