// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.iwarp.InboundReads.Read;
import io.rdma4j.protocol.iwarp.wire.FpduView;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.RdmapOpcode;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import io.rdma4j.protocol.work.AccessRefusal;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.QueuePairHost;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Executes the peer's units: SENDs fill receives, WRITEs fill memory, READs are answered.
 *
 * <p>READ requests wait in {@link InboundReads} until there is room in the stream, so that receiving never waits for sending.
 * There is no "receiver not ready": a SEND without a receive ends the stream. Source: RFC 5040 5, RFC 5041 5.
 */
final class IwarpResponder {
    private final ReceiveQueue receiveQueue;
    private final Memory memory;
    private final QueuePairHost host;
    private final InboundReads reads = new InboundReads();
    private final MemoryReference target = new MemoryReference();
    private final ReceiveDetails details = new ReceiveDetails();
    private int access;

    /** The SEND under way. */
    private @Nullable ReceiveRequest receive;
    private RdmapOpcode sendOpcode = RdmapOpcode.SEND;
    private long received;
    /** The messages that are expected next. */
    private int sendNumber;
    private int readNumber;
    /** The WRITE under way. */
    private boolean isWriting;
    private int writeKey;
    private long writeOffset;

    /** Why {@link #receive} fails, and whether memory was not as it should be. */
    private WorkCompletionStatus receiveFailure = WorkCompletionStatus.WORK_REQUEST_FLUSHED;
    private boolean isAccessViolated;

    IwarpResponder(ReceiveQueue receiveQueue, Memory memory, QueuePairHost host) {
        this.receiveQueue = receiveQueue;
        this.memory = memory;
        this.host = host;
    }

    /**
     * Sets the accesses of the peer.
     *
     * @param bits verbs.h bits
     */
    void allow(int bits) {
        access = bits;
    }

    /** Forgets everything. */
    void reset() {
        ReceiveRequest unfinished = receive;
        receive = null;
        receiveQueue.takeAll(unfinished, receiveQueue::release);
        reads.reset(0);
        access = 0;
    }

    /** Starts a stream. */
    void start(StreamParameters parameters) {
        // [RFC 5041 4.3-1]
        sendNumber = 1;
        readNumber = 1;
        received = 0;
        isWriting = false;
        receiveFailure = WorkCompletionStatus.WORK_REQUEST_FLUSHED;
        isAccessViolated = false;
        // [RFC 5040 5.2.2-1]
        reads.reset(parameters.inboundReads());
    }

    /** {@return whether the error is an access to memory, of either side} */
    boolean isAccessViolated() {
        return isAccessViolated;
    }

    // ---------------------------------------------------------------- SEND

    /** {@return null if it was accepted, otherwise its error} */
    @Nullable
    TerminateCause onSend(FpduView view) {
        if (view.messageNumber() != sendNumber) {
            return TerminateCause.INVALID_MESSAGE_NUMBER;
        }
        ReceiveRequest into = receive;
        if (into == null) {
            // [RFC 5041 4.3-3]
            if (view.messageOffset() != 0) {
                return TerminateCause.INVALID_MESSAGE_OFFSET;
            }
            // [RFC 5040 5.3-1]
            into = receiveQueue.take();
            if (into == null) {
                return TerminateCause.NO_RECEIVE;
            }
            receive = into;
            received = 0;
            sendOpcode = view.opcode();
        } else if (view.opcode() != sendOpcode) {
            return TerminateCause.UNEXPECTED_OPCODE;
        } else if (view.messageOffset() != (received & 0xffff_ffffL)) {
            // [RFC 5041 5.2-2]
            return TerminateCause.INVALID_MESSAGE_OFFSET;
        }
        int length = view.payloadLength();
        // [RFC 5041 7.1-1]
        if (length > into.capacity() - received) {
            receiveFailure = WorkCompletionStatus.LOCAL_LENGTH_ERROR;
            return TerminateCause.MESSAGE_TOO_LONG;
        }
        if (length > 0 && into.scatter(received, view.memory(), view.payloadStart(), length,
                memory) != CopyOutcome.DONE) {
            receiveFailure = WorkCompletionStatus.LOCAL_PROTECTION_ERROR;
            isAccessViolated = true;
            return TerminateCause.DDP_CATASTROPHIC;
        }
        received += length;
        // [RFC 5040 5.5-3]
        return view.isLast() ? finishSend(view, into) : null;
    }

    private @Nullable TerminateCause finishSend(FpduView view, ReceiveRequest into) {
        details.clear().solicited(sendOpcode.isSolicited());
        if (sendOpcode.invalidates()) {
            // [RFC 5040 5.3-3]
            if (!memory.invalidate(view.key())) {
                receiveFailure = WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
                // [RFC 5040 7.2-2]
                return TerminateCause.CANNOT_INVALIDATE;
            }
            details.invalidated(view.key());
        }
        receive = null;
        sendNumber++;
        // [RFC 5041 4.1-2] [RFC 5041 5.4-1]
        host.receiveCompleted(into, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE,
                received, details);
        return null;
    }

    // ---------------------------------------------------------------- WRITE

    /** {@return null if it was written, otherwise its error} */
    @Nullable
    TerminateCause onWrite(FpduView view) {
        // [RFC 5040 5.1-1]
        int length = view.payloadLength();
        // [RFC 5041 4.2-1]
        if (isWriting && view.key() != writeKey) {
            return TerminateCause.TAGGED_INVALID_KEY;
        }
        // [RFC 5041 5.2-3]
        if (isWriting && view.taggedOffset() != writeOffset) {
            return TerminateCause.TAGGED_OUT_OF_BOUNDS;
        }
        // [RFC 5041 5.2-4]
        if (length > 0) {
            TerminateCause refusal = write(view, length);
            if (refusal != null) {
                return refusal;
            }
        }
        isWriting = !view.isLast();
        writeKey = view.key();
        writeOffset = view.taggedOffset() + length;
        return null;
    }

    private @Nullable TerminateCause write(FpduView view, int length) {
        if ((access & AccessFlag.REMOTE_WRITE.bit()) == 0) {
            isAccessViolated = true;
            return TerminateCause.TAGGED_INVALID_KEY;
        }
        // [RFC 5040 8.1.1-1]
        boolean isAllowed = memory.remote(view.key(), view.taggedOffset(), length,
                AccessFlag.REMOTE_WRITE, target);
        if (!isAllowed) {
            isAccessViolated = true;
            return refusedWrite(view, length);
        }
        CopyOutcome outcome = target.write(view.memory(), view.payloadStart(), length);
        target.clear();
        // [RFC 5040 8.1.1-2]
        if (outcome != CopyOutcome.DONE) {
            isAccessViolated = true;
            return TerminateCause.TAGGED_INVALID_KEY;
        }
        return null;
    }

    private TerminateCause refusedWrite(FpduView view, int length) {
        // [RFC 5041 7.1-2]
        AccessRefusal refusal = memory.refusal(view.key(), AccessFlag.REMOTE_WRITE);
        return switch (refusal) {
            case INVALID_KEY, NOT_ALLOWED -> TerminateCause.TAGGED_INVALID_KEY;
            // [RFC 5041 8.3.1-1]
            case OTHER_DOMAIN -> TerminateCause.TAGGED_OTHER_DOMAIN;
            case OUT_OF_BOUNDS -> wraps(view.taggedOffset(), length)
                    ? TerminateCause.TAGGED_WRAPS
                    : TerminateCause.TAGGED_OUT_OF_BOUNDS;
        };
    }

    private static boolean wraps(long address, long length) {
        return Long.compareUnsigned(address + length - 1, address) < 0;
    }

    // ---------------------------------------------------------------- READ

    /** {@return null if it will be answered, otherwise its error} */
    @Nullable
    TerminateCause onReadRequest(FpduView view) {
        if (view.messageNumber() != readNumber) {
            return TerminateCause.INVALID_MESSAGE_NUMBER;
        }
        // [RFC 5040 6.1-3]
        if (reads.isFull()) {
            return TerminateCause.STREAM_CATASTROPHIC;
        }
        long length = view.readLength();
        // [RFC 5040 5.2.1-4]
        if (length > 0) {
            // [RFC 5040 5.2.1-3]
            TerminateCause refusal = refusedRead(view.sourceKey(), view.sourceOffset(), length);
            if (refusal != null) {
                return refusal;
            }
        }
        readNumber++;
        // [RFC 5040 5.5-4]
        Read read = reads.add();
        read.sourceKey = view.sourceKey();
        read.sourceOffset = view.sourceOffset();
        // [RFC 5040 4.4-1]
        read.sinkKey = view.sinkKey();
        read.sinkOffset = view.sinkOffset();
        read.length = length;
        return null;
    }

    private @Nullable TerminateCause refusedRead(int key, long address, long length) {
        // [RFC 5040 7.2-3]
        if ((access & AccessFlag.REMOTE_READ.bit()) == 0) {
            return TerminateCause.READ_NOT_ALLOWED;
        }
        if (memory.remote(key, address, length, AccessFlag.REMOTE_READ, target)) {
            return null;
        }
        return switch (memory.refusal(key, AccessFlag.REMOTE_READ)) {
            case INVALID_KEY -> TerminateCause.READ_INVALID_KEY;
            case NOT_ALLOWED -> TerminateCause.READ_NOT_ALLOWED;
            case OTHER_DOMAIN -> TerminateCause.READ_OTHER_DOMAIN;
            case OUT_OF_BOUNDS -> wraps(address, length)
                    ? TerminateCause.READ_WRAPS
                    : TerminateCause.READ_OUT_OF_BOUNDS;
        };
    }

    /** {@return whether READs of the peer wait for their responses} */
    boolean hasAnswers() {
        return !reads.isEmpty();
    }

    /** {@return whether a response is incomplete, so that no other tagged message may begin} */
    boolean isWithinAnswer() {
        return !reads.isEmpty() && reads.first().sent > 0;
    }

    /**
     * Builds the next unit of a response.
     *
     * @param maxUnit the maximum length of a unit in bytes
     * @return null if it was built, otherwise the error: the memory no longer exists
     */
    @Nullable
    TerminateCause pollAnswer(OutgoingFpdu out, int maxUnit) {
        // [RFC 5040 5.2.2-2]
        Read read = reads.first();
        RdmapOpcode opcode = RdmapOpcode.READ_RESPONSE;
        int room = maxUnit - opcode.headerLength() - FpduView.CRC_LENGTH;
        int payload = (int) Math.min(room, read.length - read.sent);
        // [RFC 5041 4.1-1]
        boolean isLast = read.sent + payload == read.length;
        out.begin(opcode, isLast).tagged(read.sinkKey, read.sinkOffset + read.sent);
        if (payload > 0) {
            long from = read.sourceOffset + read.sent;
            TerminateCause refusal = refusedRead(read.sourceKey, from, payload);
            if (refusal != null) {
                return refusal;
            }
            out.addPayload(target.segment(), target.offset(), payload);
        }
        read.sent += payload;
        if (isLast) {
            reads.removeFirst();
        }
        return null;
    }

    // ---------------------------------------------------------------- the end

    /** Ends all receives: the one that has failed with its status, the others flushed. */
    void flush() {
        ReceiveRequest unfinished = receive;
        receive = null;
        reads.reset(0);
        if (unfinished != null) {
            end(unfinished, receiveFailure);
        }
        receiveFailure = WorkCompletionStatus.WORK_REQUEST_FLUSHED;
        receiveQueue.takeAll(null, next -> end(next, WorkCompletionStatus.WORK_REQUEST_FLUSHED));
    }

    private void end(ReceiveRequest request, WorkCompletionStatus status) {
        host.receiveCompleted(request, status, WorkCompletionOpcode.RECEIVE, 0, details.clear());
    }

    /** {@return whether other queue pairs take from the same receive queue} */
    boolean isShared() {
        return receiveQueue.isShared();
    }
}
