// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A queue pair, with requests that are filled from structures of C at each post: DiSNI's calls change those in place. Thread safe;
 * threads that post one after the other allocate nothing in steady state.
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
    /** What the next post fills in, unless another thread does: that one makes its own. */
    private final AtomicReference<@Nullable Sends> sends = new AtomicReference<>();
    private final AtomicReference<@Nullable Receives> receives = new AtomicReference<>();

    PostedQueuePair(QueuePair queuePair) {
        this.queuePair = queuePair;
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /** Posts a list of requests. As in C those before one that is refused are posted. */
    void postSend(long first) throws RdmaException {
        Sends taken = sends.getAndSet(null);
        Sends filled = taken == null ? new Sends() : taken;
        try {
            filled.post(first);
        } finally {
            sends.setRelease(filled);
        }
    }

    void postReceive(long first) throws RdmaException {
        Receives taken = receives.getAndSet(null);
        Receives filled = taken == null ? new Receives() : taken;
        try {
            filled.post(first);
        } finally {
            receives.setRelease(filled);
        }
    }

    private static void addElements(ScatterGatherList elements, long at) {
        elements.clear();
        long element = CallMemory.readLong(at + ELEMENTS);
        int count = CallMemory.readInt(at + ELEMENT_COUNT);
        for (int i = 0; i < count; i++) {
            elements.add(CallMemory.readLong(element), lengthOf(element),
                    CallMemory.readInt(element + LKEY));
            element += ELEMENT_BYTES;
        }
    }

    private static long lengthOf(long element) {
        return Integer.toUnsignedLong(CallMemory.readInt(element + LENGTH));
    }

    private final class Receives {
        private final List<ReceiveWorkRequest> requests = new ArrayList<>();
        private final List<ReceiveWorkRequest> chain = new ArrayList<>();

        void post(long first) throws RdmaException {
            if (CallMemory.readLong(first + NEXT) == 0) {
                queuePair.postReceive(filled(0, first));
                return;
            }
            chain.clear();
            for (long at = first; at != 0; at = CallMemory.readLong(at + NEXT)) {
                chain.add(filled(chain.size(), at));
            }
            queuePair.postReceive(chain);
        }

        private ReceiveWorkRequest filled(int index, long at) {
            if (index == requests.size()) {
                requests.add(new ReceiveWorkRequest());
            }
            ReceiveWorkRequest request = requests.get(index).id(CallMemory.readLong(at + ID));
            addElements(request.elements(), at);
            return request;
        }
    }

    private final class Sends {
        private final List<Send> requests = new ArrayList<>();
        private final List<SendWorkRequest> chain = new ArrayList<>();

        void post(long first) throws RdmaException {
            if (CallMemory.readLong(first + NEXT) == 0) {
                queuePair.postSend(at(0).filled(first));
                return;
            }
            chain.clear();
            try {
                for (long at = first; at != 0; at = CallMemory.readLong(at + NEXT)) {
                    chain.add(at(chain.size()).filled(at));
                }
            } catch (RdmaException e) {
                queuePair.postSend(chain);
                throw e;
            }
            queuePair.postSend(chain);
        }

        private Send at(int index) {
            if (index == requests.size()) {
                requests.add(new Send());
            }
            return requests.get(index);
        }
    }

    /** A request that is used again and again. What of it is not for its operation no device looks at. */
    private final class Send {
        private final SendWorkRequest request = new SendWorkRequest();
        /** Apart, since inline data stays with a request. */
        private @Nullable InlineSend inline;

        SendWorkRequest filled(long at) throws RdmaException {
            SendOpcode opcode = opcode(CallMemory.readInt(at + OPCODE));
            int flags = CallMemory.readInt(at + FLAGS);
            if ((flags & ~KNOWN_FLAGS) != 0) {
                throw new RdmaException(Errno.EINVAL, POST_SEND,
                        "there is no send flag 0x" + Integer.toHexString(flags & ~KNOWN_FLAGS));
            }
            SendWorkRequest filled = request;
            if ((flags & SendFlag.INLINE.bit()) == 0) {
                filled.flags(flags);
                addElements(filled.elements(), at);
            } else {
                filled = inline().filled(at).set(SendFlag.FENCE, has(flags, SendFlag.FENCE))
                        .set(SendFlag.SIGNALED, has(flags, SendFlag.SIGNALED))
                        .set(SendFlag.SOLICITED, has(flags, SendFlag.SOLICITED));
            }
            return filled.id(CallMemory.readLong(at + ID)).opcode(opcode)
                    // The field is big-endian in C; DiSNI writes the program's number as it is.
                    .immediate(Integer.reverseBytes(CallMemory.readInt(at + IMMEDIATE)))
                    .remote(CallMemory.readLong(at + REMOTE_ADDRESS),
                            CallMemory.readInt(at + RKEY));
        }

        private static SendOpcode opcode(int code) throws RdmaException {
            if (code < 0 || code >= OPCODES.size()) {
                throw RdmaException.unsupported(POST_SEND, "DiSNI has WRITE, SEND and READ, which"
                        + " are opcodes 0 to 4; it fills in no operands of opcode " + code
                        + ", such as those of atomics: use rdma4j-api for these");
            }
            return OPCODES.get(code);
        }

        private static boolean has(int flags, SendFlag flag) {
            return (flags & flag.bit()) != 0;
        }

        private InlineSend inline() {
            InlineSend present = inline;
            if (present == null) {
                present = new InlineSend(queuePair.capabilities().maxInlineData());
                inline = present;
            }
            return present;
        }
    }

    /** A request with room for its bytes, which may be in any memory of the process. */
    private static final class InlineSend {
        private final SendWorkRequest request = new SendWorkRequest();
        private final MemorySegment all;
        /** The first bytes of these, by their number, as far as they were used. */
        private final @Nullable MemorySegment[] data;

        InlineSend(int most) {
            all = MemorySegment.ofArray(new byte[most]);
            data = new MemorySegment[most + 1];
        }

        SendWorkRequest filled(long at) throws RdmaException {
            long first = CallMemory.readLong(at + ELEMENTS);
            int count = CallMemory.readInt(at + ELEMENT_COUNT);
            long length = 0;
            for (int i = 0; i < count; i++) {
                length += lengthOf(first + (long) i * ELEMENT_BYTES);
            }
            if (length > all.byteSize()) {
                throw new RdmaException(Errno.EINVAL, POST_SEND,
                        length + " bytes of inline data are more than the " + all.byteSize()
                                + " that the queue pair was created for");
            }
            long offset = 0;
            for (int i = 0; i < count; i++) {
                long element = first + (long) i * ELEMENT_BYTES;
                CallMemory.copy(CallMemory.readLong(element), all, offset, lengthOf(element));
                offset += lengthOf(element);
            }
            return request.inline(data((int) length));
        }

        private MemorySegment data(int length) {
            MemorySegment known = data[length];
            if (known == null) {
                known = all.asSlice(0, length);
                data[length] = known;
            }
            return known;
        }
    }
}
