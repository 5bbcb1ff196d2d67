// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * A send queue. Applications post within its monitor after {@link #beginPost}, or under {@link #lock} if they post by several calls;
 * the engine reads and retires without them.
 *
 * <p>A request is first staged, invisible to the engine, and then published alone or with others.
 */
public final class SendRing extends Turns implements SendQueue, GrownRings.Growing {
    private static final int FIRST_SLOTS = 2;

    /** Those from {@code retired} up to {@code staged}, in the slot of their index; replaced by more when they are all in use. */
    private volatile @Nullable SendRequest[] slots;
    private final int capacity;
    private final int maxElements;
    private final int maxInlineData;
    private @Nullable MemorySegment inlineMemory;
    private final boolean isInlineMemoryGiven;
    /** Where inline data of the next new slot begins. */
    private long inlineUsed;
    private long staged;
    private volatile long end;
    private volatile long retired;
    /** How many of the retired ones had no completion. Written before {@link #retired}, and read after it. */
    private long silent;
    /** Requests were dropped, so that completions cannot be counted by requests any more. */
    private volatile boolean wasCleared;
    private volatile @Nullable Runnable whenIdle;
    private @Nullable GrownRings grown;
    /** It is among them. Under the lock, or within the monitor. */
    private boolean isGrown;
    /** The end at the last {@link #shrinkIfUnused}. */
    private long seenEnd;

    /**
     * @param capacity the maximum number of outstanding requests
     * @param maxElements the maximum number of scatter/gather elements of a request
     * @param maxInlineData the maximum number of inline bytes of a request
     * @param inlineMemory {@link #inlineMemoryFor} bytes for inline data, null for heap memory
     */
    public SendRing(int capacity, int maxElements, int maxInlineData,
            @Nullable MemorySegment inlineMemory) {
        this.capacity = capacity;
        this.maxElements = maxElements;
        this.maxInlineData = maxInlineData;
        this.inlineMemory = inlineMemory;
        isInlineMemoryGiven = inlineMemory != null;
        slots = first();
    }

    private @Nullable SendRequest[] first() {
        return new SendRequest[Math.min(FIRST_SLOTS, slotsFor(capacity))];
    }

    /** Is to be shrunk again with others after it has grown. Before its use. */
    public void growWith(GrownRings others) {
        grown = others;
    }

    /** Is used no more. Within the monitor, while no thread posts. */
    public void close() {
        GrownRings others = grown;
        if (others != null) {
            others.remove(this);
            grown = null;
        }
    }

    private static int slotsFor(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity - 1)) * 2;
    }

    /** {@return the number of bytes of memory for inline data} */
    public static long inlineMemoryFor(int capacity, int maxInlineData) {
        return (long) slotsFor(capacity) * maxInlineData;
    }

    /** {@return bytes of inline data that fit into a request} */
    public int maxInlineData() {
        return maxInlineData;
    }

    /** Waits until no other thread is in the middle of posting. Within the monitor, where the caller then posts. */
    public void beginPost() {
        awaitTurn();
    }

    /** A post has ended. Outside of the monitor. */
    public void endPost() {
        if (whenIdle != null) {
            runIfIdle();
        }
    }

    /** Takes the lock for posting by several calls. {@return false if another thread has it, and the queue pair is closed} */
    public boolean lock() {
        return keep();
    }

    /** The queue pair is closed: nobody waits for the thread that posts by several calls. */
    public void onClosed() {
        endWaits();
    }

    /** Releases the lock for posting. */
    public void unlock() {
        giveBack();
        endPost();
    }

    /** Does something as soon as no thread is posting: now, or when the one that is has ended. */
    public void whenIdle(Runnable action) {
        whenIdle = action;
        runIfIdle();
    }

    private synchronized void runIfIdle() {
        Runnable action = whenIdle;
        // A thread may be in the middle of a batch, the calling one as well.
        if (action != null && isFree()) {
            whenIdle = null;
            action.run();
        }
    }

    /** {@return whether the calling thread may post, and no other} */
    public boolean isLocked() {
        return Thread.holdsLock(this) || isKeeper();
    }

    /** {@return the slot for the next request, null if the queue is full} Under the lock, or within the monitor. */
    public @Nullable SendRequest free() {
        long oldest = retired;
        long outstanding = staged - oldest;
        if (outstanding >= capacity) {
            return null;
        }
        @Nullable
        SendRequest[] present = slots;
        if (outstanding == present.length) {
            present = grow(oldest);
        }
        int index = (int) staged & present.length - 1;
        SendRequest slot = present[index];
        if (slot == null) {
            slot = new SendRequest(maxElements, inlineBuffer(present.length));
            present[index] = slot;
        }
        return slot;
    }

    private @Nullable SendRequest[] grow(long oldest) {
        @Nullable
        SendRequest[] present = slots;
        @Nullable
        SendRequest[] larger = new SendRequest[2 * present.length];
        for (long i = oldest; i < staged; i++) {
            larger[(int) i & larger.length - 1] = present[(int) i & present.length - 1];
        }
        slots = larger;
        GrownRings others = grown;
        if (!isGrown && others != null && larger.length > GrownRings.KEPT_SLOTS) {
            isGrown = true;
            others.add(this);
        }
        return larger;
    }

    /** The engine reads slots only of requests that are posted and not retired: it may go on meanwhile. */
    @Override
    public synchronized void shrinkIfUnused(Consumer<Runnable> asOwner) {
        long now = end;
        boolean isUnused = now == seenEnd && now == staged && now == retired && isFree();
        seenEnd = now;
        GrownRings others = grown;
        if (isUnused && others != null) {
            slots = first();
            inlineUsed = 0;
            if (!isInlineMemoryGiven) {
                inlineMemory = null;
            }
            others.remove(this);
            isGrown = false;
        }
    }

    /** {@return where a new slot keeps inline data} Each slot is kept when the ring grows, so memory is for those that are added. */
    private @Nullable MemorySegment inlineBuffer(int slotCount) {
        if (maxInlineData == 0) {
            return null;
        }
        MemorySegment memory = inlineMemory;
        if (memory == null || (!isInlineMemoryGiven && inlineUsed == memory.byteSize())) {
            int added = memory == null ? slotCount : slotCount / 2;
            memory = MemorySegment.ofArray(new byte[added * maxInlineData]);
            inlineMemory = memory;
            inlineUsed = 0;
        }
        MemorySegment buffer = memory.asSlice(inlineUsed, maxInlineData);
        inlineUsed += maxInlineData;
        return buffer;
    }

    /** Keeps the slot that {@link #free} gave. Under the lock, or within the monitor. */
    public void stage() {
        staged++;
    }

    /** Passes the staged requests to the engine. Under the lock, or within the monitor. */
    public void publish() {
        end = staged;
    }

    /** Drops the staged requests. Under the lock, or within the monitor. */
    public void unstage() {
        staged = end;
    }

    @Override
    public long end() {
        return end;
    }

    /** {@return whether a posted request is not retired} */
    public boolean isOutstanding() {
        return retired != end;
    }

    /**
     * {@return whether a posted request is not retired that will complete also if it succeeds} For any thread. If one is
     * retired or posted meanwhile, the answer is that of before or after it.
     */
    public boolean isSignaledOutstanding() {
        long last = end;
        @Nullable
        SendRequest[] present = slots;
        for (long i = retired; i < last; i++) {
            SendRequest slot = present[(int) i & present.length - 1];
            if (slot != null && slot.isSignaled()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public SendRequest request(long index) {
        @Nullable
        SendRequest[] present = slots;
        SendRequest slot = present[(int) index & present.length - 1];
        if (slot == null) {
            throw new IllegalStateException("request " + index + " was not posted");
        }
        return slot;
    }

    @Override
    public void retire() {
        long next = retired + 1;
        retired = next;
    }

    @Override
    public void retireSilently() {
        silent++;
        retire();
    }

    /**
     * {@return how many requests have completed or will, with a completion} Never too few; exact for whoever has taken the completion of a
     * later one. Under the lock, or within the monitor, after {@link #free}.
     */
    public long completions() {
        return staged - silent;
    }

    /** {@return whether {@link #completions} says nothing, because requests were dropped} For any thread. */
    public boolean wasCleared() {
        return wasCleared;
    }

    @Override
    public long clear() {
        long posted = end;
        wasCleared |= posted != 0;
        retired = posted;
        return posted;
    }
}
