// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.PostRules;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * The way of send requests into the send queue: checked, copied, inline data gathered. Nearly every request passes all checks at
 * one look; {@link PostChecks} has them one by one, for the others.
 */
final class SendPosting {
    /** What may be of any length, and needs no check of its own. */
    private static final Set<SendOpcode> MESSAGES = EnumSet.of(SendOpcode.SEND,
            SendOpcode.SEND_WITH_IMMEDIATE, SendOpcode.SEND_WITH_INVALIDATE, SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, SendOpcode.RDMA_READ);
    private static final int CHECKED_FLAGS = SendFlag.FENCE.bit() | SendFlag.IP_CHECKSUM.bit()
            | SendFlag.INLINE.bit();
    private static final int INLINE = SendFlag.INLINE.bit();

    private final SoftQueuePairServices queuePair;
    private final SendRing ring;
    private final DomainMemory memory;
    private final QueuePairCapabilities sizes;
    private final int maxElements;
    private final boolean signalAll;
    private final boolean isDatagram;
    private final SoftCompletionQueue completions;
    /** Whether completions can be counted by the requests of this queue pair, as long as no other reports to the same queue. */
    private final boolean isCounted;
    /** How many requests can be posted before the next look whether their completions have room. Under the ring's lock. */
    private long unlooked;
    /** Bits by code: the operations that need no further look. */
    private final int ordinary;
    /** Whether the queue pair is open, and in a state in which it accepts sends. */
    private volatile boolean isAccepting;
    private final MemoryReference inlineSource = new MemoryReference();
    /** Whether the thread that has the ring's lock posts piece by piece. Under that lock. */
    private boolean isInBatch;

    SendPosting(SoftQueuePairServices queuePair, SendRing ring, DomainMemory memory,
            QueuePairSpec spec) {
        this.queuePair = queuePair;
        this.ring = ring;
        this.memory = memory;
        sizes = spec.capabilities();
        maxElements = sizes.maxSendElements();
        signalAll = spec.signalAll();
        completions = spec.sendQueue();
        isCounted = !completions.equals(spec.receiveQueue())
                && !completions.ring().isOverrunIgnored()
                && completions.capacity() >= sizes.maxSendRequests();
        isDatagram = queuePair.type() == QueuePairType.UD;
        int bits = 0;
        for (SendOpcode each : MESSAGES) {
            bits |= !isDatagram && queuePair.offered().contains(each) ? 1 << each.code() : 0;
        }
        ordinary = bits;
    }

    /** The state has changed. */
    void onState(QueuePairState state) {
        isAccepting = !queuePair.isClosed() && PostChecks.isForSends(state);
    }

    SendRing ring() {
        return ring;
    }

    QueuePairCapabilities sizes() {
        return sizes;
    }

    void post(SendWorkRequest request, MemoryWindowType bindable) throws RdmaException {
        try {
            synchronized (ring) {
                beginPost();
                stage(request, bindable);
                ring.publish();
            }
        } finally {
            ring.endPost();
        }
    }

    /** Posts a bind of type 1 with its next key. Keys are taken in the order of the queue. */
    void postBind(SoftMemoryWindow window, IntFunction<SendWorkRequest> bind)
            throws RdmaException {
        try {
            synchronized (ring) {
                beginPost();
                int previous = window.window().takeNextRkey();
                boolean isStaged = false;
                try {
                    stage(bind.apply(MemoryWindow.nextRkey(previous)), MemoryWindowType.TYPE_1);
                    isStaged = true;
                } finally {
                    if (!isStaged) {
                        window.window().giveBackRkeyAfter(previous);
                    }
                }
                ring.publish();
            }
        } finally {
            ring.endPost();
        }
    }

    void post(List<SendWorkRequest> requests) throws RdmaException {
        try {
            synchronized (ring) {
                beginPost();
                queuePair.checkOpen();
                postUntilRefused(requests);
            }
        } finally {
            ring.endPost();
        }
    }

    /** Requests before a refused one are posted. */
    private void postUntilRefused(List<SendWorkRequest> requests) throws PostException {
        int staged = 0;
        try {
            for (; staged < requests.size(); staged++) {
                stage(PostRules.given(requests, staged), MemoryWindowType.TYPE_2);
            }
        } catch (RdmaException refused) {
            throw new PostException(PostChecks.SEND, refused, staged);
        } catch (IllegalStateException mistake) {
            throw new PostException(PostChecks.SEND, mistake, staged);
        } finally {
            ring.publish();
        }
    }

    /** Within the monitor of the ring. */
    private void beginPost() throws RdmaException {
        ring.beginPost();
        if (isInBatch) {
            // It may be another thread's, for which nobody waits once the queue pair is closed.
            queuePair.checkOpen();
            throw new IllegalStateException(
                    "this thread is in a batch: post or close it first");
        }
    }

    // ---------------------------------------------------------------- piece by piece

    /**
     * The calling thread posts piece by piece from now on, and no other posts.
     *
     * @throws RdmaException EBADF if the queue pair is closed
     * @throws IllegalStateException if this thread has begun already
     */
    void beginBatch() throws RdmaException {
        if (!ring.lock()) {
            queuePair.checkOpen();
            throw new IllegalStateException("another thread has begun a batch");
        }
        boolean isBegun = false;
        try {
            if (isInBatch) {
                throw new IllegalStateException(
                        "this thread has begun a batch already: end it first");
            }
            queuePair.checkOpen();
            isInBatch = true;
            isBegun = true;
        } finally {
            if (!isBegun) {
                ring.unlock();
            }
        }
    }

    /** {@return whether the calling thread has begun a batch} */
    boolean isInBatch() {
        return ring.isLocked() && isInBatch;
    }

    /** Ends what {@link #beginBatch} has begun. */
    void endBatch() {
        isInBatch = false;
        ring.unlock();
    }

    // ---------------------------------------------------------------- into the ring

    /** Stages a request in the ring, where the engine does not see it yet. */
    void stage(SendWorkRequest request, MemoryWindowType bindable) throws RdmaException {
        int flags = request.flags();
        ScatterGatherList elements = request.elements();
        boolean isOrdinary = isAccepting && (ordinary >>> request.opcode().code() & 1) != 0
                && (flags & CHECKED_FLAGS) == 0 && elements.count() <= maxElements
                && request.inlineData() == null && elements.totalLength() <= Limits.MESSAGE;
        if (!isOrdinary) {
            queuePair.checkOpen();
            PostChecks.check(request, PostChecks.length(request), queuePair, sizes, bindable);
        }
        SendRequest slot = free();
        slot.assign(request, signalAll);
        if (isDatagram) {
            address(request, slot);
        }
        if ((flags & INLINE) != 0) {
            gatherInline(request, slot);
        }
        ring.stage();
        unlooked--;
    }

    /** As {@link #stage}, for a request whose inline data is already in its slot. */
    void stageInlined(SendWorkRequest request, long inlineBytes) throws RdmaException {
        // The room was checked when the data was copied.
        request.set(SendFlag.INLINE, false);
        queuePair.checkOpen();
        PostChecks.check(request, inlineBytes, queuePair, sizes, MemoryWindowType.TYPE_2);
        SendRequest slot = free();
        slot.assign(request, signalAll);
        if (isDatagram) {
            address(request, slot);
        }
        slot.inlined(inlineBytes);
        ring.stage();
        unlooked--;
    }

    /** {@return the slot for the next request} */
    SendRequest free() throws RdmaException {
        SendRequest slot = ring.free();
        if (slot == null) {
            throw PostChecks.full(true, sizes.maxSendRequests());
        }
        if (unlooked <= 0 && isCounted) {
            unlooked = roomForCompletions();
        }
        return slot;
    }

    /**
     * {@return how many requests can be posted whose completions have room} A program that posts until it gets ENOMEM, and takes
     * completions then, must not overrun the completion queue that it has for these requests alone: ADR 85.
     *
     * @throws RdmaException ENOMEM if there is room for none
     */
    private long roomForCompletions() throws RdmaException {
        if (!completions.isOfOneQueuePair() || ring.wasCleared()) {
            return sizes.maxSendRequests();
        }
        CompletionRing found = completions.ring();
        long untaken = ring.completions() - found.taken();
        long room = found.capacity() - untaken;
        if (room <= 0) {
            throw PostChecks.untaken(untaken);
        }
        return room;
    }

    private static void address(SendWorkRequest request, SendRequest slot) {
        if (request.addressHandle() instanceof SoftAddressHandle handle) {
            slot.route(handle.route(), request.remoteQueuePairNumber(), request.remoteQkey());
        }
    }

    private void gatherInline(SendWorkRequest request, SendRequest slot) throws RdmaException {
        slot.beginInline();
        MemorySegment data = request.inlineData();
        if (data != null) {
            copyInline(data, 0, data.byteSize(), slot);
            return;
        }
        ScatterGatherList elements = request.elements();
        for (int i = 0; i < elements.count(); i++) {
            long length = elements.length(i);
            if (length == 0) {
                continue;
            }
            if (!memory.local(elements.lkey(i), elements.address(i), length, false,
                    inlineSource)) {
                throw new RdmaException(Errno.EFAULT, PostChecks.SEND, "element " + i
                        + " of the inline data names no registered memory; give its bytes with"
                        + " SendWorkRequest.inline instead");
            }
            copyInline(inlineSource.segment(), inlineSource.offset(), length, slot);
            inlineSource.clear();
        }
    }

    /**
     * Appends bytes to a slot's inline data, which must have room for them.
     *
     * @throws RdmaException EFAULT with the reason if the bytes cannot be read
     */
    static void copyInline(MemorySegment data, long offset, long length, SendRequest slot)
            throws RdmaException {
        try {
            slot.appendInline(data, offset, length);
        } catch (InternalError cutShort) {
            throw new RdmaException(Errno.EFAULT, PostChecks.SEND,
                    "the file that the inline data maps was cut short", cutShort);
        } catch (IllegalStateException closed) {
            throw unreadable("its arena is closed", closed);
        } catch (WrongThreadException foreign) {
            throw unreadable("its arena is confined to another thread", foreign);
        }
    }

    private static RdmaException unreadable(String why, RuntimeException cause) {
        return new RdmaException(Errno.EFAULT, PostChecks.SEND,
                "the inline data cannot be read: " + why, cause);
    }
}
