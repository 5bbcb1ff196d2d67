// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.iwarp.OutstandingReads.Read;
import io.rdma4j.protocol.iwarp.wire.FpduView;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.RdmapOpcode;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import io.rdma4j.protocol.iwarp.wire.TerminateMessage;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.QueuePairHost;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Turns the application's send requests into units of the stream, and completes them.
 *
 * <p>A SEND or WRITE is done when its last unit has been copied into the stream, a READ when its response is in memory;
 * requests complete in order. There are no acknowledgements. Each element of a READ is a request of its own on the wire,
 * because a response goes to one range of memory. Source: RFC 5040 5.
 */
final class IwarpRequester {
    private final SendQueue sendQueue;
    private final Memory memory;
    private final QueuePairHost host;
    private final OutstandingReads reads = new OutstandingReads();
    private final MemoryReference target = new MemoryReference();

    /** The oldest request that has not completed. */
    private long oldest;
    /** The request under way. */
    private long cursor;
    /** How much of it was sent: bytes of a SEND or WRITE, elements of a READ. */
    private long offset;
    private int element;
    private boolean isBegun;
    /** The whole present request was built; its last unit may still have to be copied into the stream. */
    private boolean isBuilt;
    private long sendNumber;
    private long readNumber;
    private int maxReads;
    private ReadyToReceive first = ReadyToReceive.NONE;
    /** The error of a failed request, or success, and the index of the request. */
    private WorkCompletionStatus failure = WorkCompletionStatus.SUCCESS;
    private long failed;

    IwarpRequester(SendQueue sendQueue, Memory memory, QueuePairHost host) {
        this.sendQueue = sendQueue;
        this.memory = memory;
        this.host = host;
    }

    /** Forgets all requests. */
    void reset() {
        oldest = sendQueue.clear();
        cursor = oldest;
        begin();
        failure = WorkCompletionStatus.SUCCESS;
        first = ReadyToReceive.NONE;
        maxReads = 0;
        reads.reset(0);
    }

    /** Starts a stream. */
    void start(StreamParameters parameters) {
        cursor = oldest;
        begin();
        sendNumber = 0;
        readNumber = 0;
        maxReads = parameters.outboundReads();
        reads.reset(maxReads);
        first = parameters.isInitiator() ? parameters.readyToReceive() : ReadyToReceive.NONE;
    }

    private void begin() {
        offset = 0;
        element = 0;
        isBegun = false;
        isBuilt = false;
    }

    // ---------------------------------------------------------------- sending

    /** {@return whether a message is incomplete, so that no other tagged one may begin} */
    boolean isWithinMessage() {
        return isBegun && !isBuilt;
    }

    /** {@return whether all that was posted has been sent and answered} */
    boolean isDrained() {
        return oldest == sendQueue.end();
    }

    /** {@return whether a request has failed, so that the stream has to end} */
    boolean hasFailed() {
        return failure != WorkCompletionStatus.SUCCESS;
    }

    private boolean fail(long request, WorkCompletionStatus status) {
        failure = status;
        failed = request;
        return false;
    }

    /** Repeats the first message, for which the peer still waits, as a WRITE of no bytes. */
    void repeatFirst() {
        first = ReadyToReceive.WRITE;
    }

    /** Builds the unit that the peer waits for before it sends. {@return false if it waits for none} */
    boolean pollFirst(OutgoingFpdu out) {
        // [RFC 6581 5-1]
        switch (first) {
            case NONE -> {
                return false;
            }
            case WRITE -> out.begin(RdmapOpcode.WRITE, true).tagged(1, 0);
            case READ -> {
                Read read = reads.add();
                read.request = OutstandingReads.NO_REQUEST;
                read.length = 0;
                read.sinkKey = 1;
                read.sinkOffset = 0;
                read.messageOffset = 0;
                out.begin(RdmapOpcode.READ_REQUEST, true).untagged(++readNumber, 0, 0)
                        .read(1, 0, 0, 1, 0);
            }
        }
        first = ReadyToReceive.NONE;
        return true;
    }

    /**
     * Builds the next unit of the application's requests.
     *
     * @param maxUnit the maximum length of a unit in bytes
     * @return false if there is none now, or if {@link #hasFailed}
     */
    boolean poll(OutgoingFpdu out, int maxUnit) {
        finishBuilt();
        // [RFC 5040 5.3-2]
        while (!hasFailed() && cursor < sendQueue.end()) {
            SendRequest request = sendQueue.request(cursor);
            if (request.isFenced() && reads.count() > 0 && !isBegun) {
                return false;
            }
            if (!request.isLocal()) {
                return request.opcode() == SendOpcode.RDMA_READ
                        ? askForElement(request, out)
                        : build(request, out, maxUnit);
            }
            WorkCompletionStatus status = memory.carryOut(request);
            if (status != WorkCompletionStatus.SUCCESS) {
                return fail(cursor, status);
            }
            next();
        }
        return false;
    }

    /** The last built unit was copied, because another one is requested. */
    private void finishBuilt() {
        // [RFC 5040 5.5-1]
        if (isBuilt) {
            next();
        }
    }

    private void next() {
        cursor++;
        begin();
        complete();
    }

    private boolean build(SendRequest request, OutgoingFpdu out, int maxUnit) {
        boolean isWrite = request.opcode() == SendOpcode.RDMA_WRITE;
        RdmapOpcode opcode = isWrite ? RdmapOpcode.WRITE : sendOpcode(request);
        // [RFC 5041 5.2-1]
        int room = maxUnit - opcode.headerLength() - FpduView.CRC_LENGTH;
        int payload = (int) Math.min(room, request.length() - offset);
        // [RFC 5041 4.1-1]
        boolean isLast = offset + payload == request.length();
        out.begin(opcode, isLast);
        if (isWrite) {
            // [RFC 5041 5.2-3]
            out.tagged(request.rkey(), request.remoteAddress() + offset);
        } else {
            if (!isBegun) {
                // [RFC 5041 4.3-1]
                sendNumber++;
            }
            // [RFC 5040 4.1-3]
            out.untagged(sendNumber, offset,
                    opcode.invalidates() ? request.invalidateRkey() : 0);
        }
        isBegun = true;
        if (!request.gather(offset, payload, memory, out)) {
            return fail(cursor, WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        offset += payload;
        isBuilt = isLast;
        return true;
    }

    private static RdmapOpcode sendOpcode(SendRequest request) {
        if (request.opcode() == SendOpcode.SEND_WITH_INVALIDATE) {
            return request.isSolicited()
                    ? RdmapOpcode.SEND_SOLICITED_INVALIDATE
                    : RdmapOpcode.SEND_INVALIDATE;
        }
        return request.isSolicited() ? RdmapOpcode.SEND_SOLICITED : RdmapOpcode.SEND;
    }

    private boolean askForElement(SendRequest request, OutgoingFpdu out) {
        if (maxReads == 0) {
            // It would wait without end.
            return fail(cursor, WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
        }
        // [RFC 5040 6.1-2]
        if (reads.count() >= maxReads) {
            return false;
        }
        skipEmptyElements(request);
        boolean isNothing = request.length() == 0;
        long length = isNothing ? 0 : request.elementLength(element);
        long address = isNothing ? 0 : request.elementAddress(element);
        int key = isNothing ? 0 : request.elementLkey(element);
        if (!isNothing && !memory.local(key, address, length, true, target)) {
            return fail(cursor, WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        target.clear();
        Read read = reads.add();
        read.request = cursor;
        read.messageOffset = offset;
        read.sinkKey = key;
        read.sinkOffset = address;
        read.length = length;
        // [RFC 5040 5.2.1-1]
        out.begin(RdmapOpcode.READ_REQUEST, true).untagged(++readNumber, 0, 0)
                .read(key, address, length, request.rkey(), request.remoteAddress() + offset);
        offset += length;
        element++;
        isBegun = true;
        if (offset == request.length()) {
            next();
        }
        return true;
    }

    private void skipEmptyElements(SendRequest request) {
        while (element < request.elementCount() && request.elementLength(element) == 0) {
            element++;
        }
    }

    /** Reports completed requests, in order. */
    private void complete() {
        while (oldest < cursor && !isAwaited(oldest)) {
            SendRequest request = sendQueue.request(oldest);
            oldest++;
            host.sendCompleted(request, WorkCompletionStatus.SUCCESS, request.bytesReturned());
        }
    }

    /** {@return whether a request of the application is the oldest READ that waits for a response} */
    private boolean isAwaited(long index) {
        int first = reads.count() > 0 && reads.first().request == OutstandingReads.NO_REQUEST
                ? 1
                : 0;
        return reads.count() > first && reads.get(first).request == index;
    }

    // ---------------------------------------------------------------- answers

    /** {@return null if a response to a READ was accepted, otherwise its error} */
    @Nullable
    TerminateCause onReadResponse(FpduView view) {
        if (reads.count() == 0) {
            return TerminateCause.DDP_CATASTROPHIC;
        }
        Read read = reads.first();
        int length = view.payloadLength();
        boolean isEmpty = length == 0 && read.length == 0;
        if (!isEmpty && view.key() != read.sinkKey) {
            fail(read.request, WorkCompletionStatus.GENERAL_ERROR);
            return TerminateCause.TAGGED_INVALID_KEY;
        }
        boolean isRightPlace = isEmpty || view.taggedOffset() == read.sinkOffset + read.received;
        long left = read.length - read.received;
        if (!isRightPlace || length > left) {
            fail(read.request, isRightPlace
                    ? WorkCompletionStatus.LOCAL_LENGTH_ERROR
                    : WorkCompletionStatus.GENERAL_ERROR);
            return TerminateCause.TAGGED_OUT_OF_BOUNDS;
        }
        if (view.isLast() != (length == left)) {
            fail(read.request, WorkCompletionStatus.LOCAL_LENGTH_ERROR);
            return TerminateCause.DDP_CATASTROPHIC;
        }
        if (length > 0 && scatter(read, view, length) != CopyOutcome.DONE) {
            fail(read.request, WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            return TerminateCause.DDP_CATASTROPHIC;
        }
        // [RFC 5040 5.5-2]
        read.received += length;
        if (view.isLast()) {
            reads.removeFirst();
            complete();
        }
        return null;
    }

    private CopyOutcome scatter(Read read, FpduView view, int length) {
        return sendQueue.request(read.request).scatter(read.messageOffset + read.received,
                view.memory(), view.payloadStart(), length, memory);
    }

    // ---------------------------------------------------------------- the end

    /** The peer ends the stream; the READ that it names is the reason, if it names one that waits. */
    void onTerminate(TerminateMessage message) {
        boolean isAboutFirst = message.isAboutFirstRead();
        int behind = isAboutFirst
                ? 0
                : (int) (message.readNumber() - (readNumber - reads.count() + 1));
        boolean isWaiting = (isAboutFirst || message.readNumber() != 0) && behind >= 0
                && behind < reads.count();
        // Requests complete in order, so only the oldest can report its error.
        if (isWaiting && reads.get(behind).request == oldest) {
            fail(oldest, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    /** The memory of the built unit no longer exists, so it cannot be sent. */
    void onPayloadGone() {
        fail(cursor, WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        isBuilt = false;
    }

    /** Ends all requests: the one that has failed with its status, the others flushed. */
    void flush() {
        finishBuilt();
        boolean hasFailed = hasFailed();
        WorkCompletionStatus status = failure;
        failure = WorkCompletionStatus.SUCCESS;
        while (oldest < sendQueue.end()) {
            SendRequest request = sendQueue.request(oldest);
            boolean isBlamed = hasFailed && oldest == failed;
            oldest++;
            host.sendCompleted(request,
                    isBlamed ? status : WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
        cursor = oldest;
        begin();
        reads.reset(0);
    }
}
