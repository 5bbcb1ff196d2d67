// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A completion queue's entries. The engine adds; applications take in turns of their own, so that adding never waits.
 */
public final class CompletionRing extends Turns implements GrownRings.Growing {
    /** Is notified of the ring's events, in the thread that owns the engine. */
    public interface Listener {
        /** A completion arrived for which an event was requested. */
        void onNotify();

        /** A completion arrived that threads wait for. */
        void onAwaited();

        /** A completion was lost because the queue was full. For the engine's owner. */
        void onOverrun();

        /** A notification is delayed, at most until {@link #notificationDueNs}. */
        void onModerated(CompletionRing ring);
    }

    /** Raw time stamps and the wall clock of completions. */
    public interface Clock {
        /** {@return the raw clock} */
        long rawNs();

        /** {@return nanoseconds since 1970} */
        long wallclockNs();
    }

    private static final int FIRST_SLOTS = 2;
    private static final int NOT_ARMED = 0;
    private static final int EVENT_IF_SOLICITED = 1;
    private static final int EVENT = 2;
    private static final int WAKE_UP = 4;

    private final AtomicInteger armed = new AtomicInteger(NOT_ARMED);
    private final Listener listener;
    private final LongSupplier time;
    private final @Nullable Clock clock;
    private final boolean isOverrunIgnored;
    private int capacity;
    /** Those from {@code taken} up to {@code end}, in the slot of their index; replaced by more when they are all in use. */
    private volatile @Nullable CompletionSlot[] slots;
    private volatile long end;
    private volatile long taken;
    private volatile boolean isOverrun;
    private @Nullable GrownRings grown;
    /** It is among them. For the engine's owner. */
    private boolean isGrown;
    /** The end at the last {@link #shrinkIfUnused}. */
    private long seenEnd;

    private int moderatedCount;
    private long moderatedNs;
    private int pendingCount;
    /** The kind of event that the counted completions are for. */
    private int pending;
    private long notificationDueNs = Long.MAX_VALUE;

    private long batchAt;
    private boolean isInBatch;

    /**
     * @param capacity completions it can hold
     * @param time the engine's time
     * @param clock the clock for time stamps of completions, null if they have none
     * @param isOverrunIgnored whether completions without room are dropped without an error
     */
    public CompletionRing(int capacity, Listener listener, LongSupplier time,
            @Nullable Clock clock, boolean isOverrunIgnored) {
        this.capacity = capacity;
        this.listener = listener;
        this.time = time;
        this.clock = clock;
        this.isOverrunIgnored = isOverrunIgnored;
        slots = first();
    }

    private @Nullable CompletionSlot[] first() {
        return new CompletionSlot[Math.min(FIRST_SLOTS, slotsFor(capacity))];
    }

    /** Is to be shrunk again with others after it has grown. Before its use. */
    public void growWith(GrownRings others) {
        grown = others;
    }

    /** Is closed: nobody waits for the thread that reads in place. For the engine's owner. */
    public void close() {
        endWaits();
        leaveGrown();
    }

    /** Is not among others that have grown any more. */
    private void leaveGrown() {
        GrownRings others = grown;
        if (others != null) {
            others.remove(this);
        }
    }

    private static int slotsFor(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity - 1)) * 2;
    }

    /** {@return completions it can hold} */
    public int capacity() {
        return capacity;
    }

    /** {@return how many completions were taken so far, with those that the calling thread has reached in place} For any thread. */
    public long taken() {
        return isInBatch && isKeeper() ? batchAt + 1 : taken;
    }

    // ---------------------------------------------------------------- for the engine's owner

    /** {@return the slot for the next completion; null if the ring is full, which it never forgets} */
    public @Nullable CompletionSlot free() {
        long oldest = taken;
        long count = end - oldest;
        if (count >= capacity) {
            isOverrun = !isOverrunIgnored;
            return null;
        }
        @Nullable
        CompletionSlot[] present = slots;
        if (count == present.length) {
            present = grow(oldest);
        }
        int index = (int) end & present.length - 1;
        CompletionSlot slot = present[index];
        if (slot == null) {
            slot = new CompletionSlot();
            present[index] = slot;
        }
        return slot;
    }

    private @Nullable CompletionSlot[] grow(long oldest) {
        @Nullable
        CompletionSlot[] larger = moved(oldest, 2 * slots.length);
        slots = larger;
        GrownRings others = grown;
        if (!isGrown && others != null && larger.length > GrownRings.KEPT_SLOTS) {
            isGrown = true;
            others.add(this);
        }
        return larger;
    }

    /** It does without the turn: who takes reads slots only while there are completions in them, and says when it has them. */
    @Override
    public void shrinkIfUnused(Consumer<Runnable> asOwner) {
        long now = end;
        if (now == seenEnd && now == taken) {
            asOwner.accept(this::shrinkIfEmpty);
        }
        seenEnd = now;
    }

    private void shrinkIfEmpty() {
        if (end == taken) {
            slots = first();
            leaveGrown();
            isGrown = false;
        }
    }

    /** {@return the completions from an index on, in so many slots} Who takes meanwhile finds each in the old slots as well. */
    private @Nullable CompletionSlot[] moved(long from, int count) {
        @Nullable
        CompletionSlot[] present = slots;
        @Nullable
        CompletionSlot[] moved = new CompletionSlot[count];
        for (long i = from; i < end; i++) {
            moved[(int) i & count - 1] = present[(int) i & present.length - 1];
        }
        return moved;
    }

    /** {@return whether a full queue is not an error} */
    public boolean isOverrunIgnored() {
        return isOverrunIgnored;
    }

    /**
     * Hands the slot that {@link #free} gave to the application.
     *
     * @param isSolicited whether the peer requested an event, or the work failed
     */
    public void add(CompletionSlot slot, boolean isSolicited) {
        if (clock != null) {
            slot.fillTime(clock.rawNs(), clock.wallclockNs());
        }
        long next = end + 1;
        end = next;
        int now = armed.get();
        if (now != NOT_ARMED && (now != EVENT_IF_SOLICITED || isSolicited)) {
            notifyOrWait(isSolicited ? now : now & ~EVENT_IF_SOLICITED);
        }
    }

    private void notifyOrWait(int asked) {
        pending |= asked;
        pendingCount++;
        if (pendingCount >= moderatedCount) {
            announce();
        } else if (pendingCount == 1) {
            notificationDueNs = time.getAsLong() + moderatedNs;
            listener.onModerated(this);
        }
    }

    private void announce() {
        pendingCount = 0;
        notificationDueNs = Long.MAX_VALUE;
        int due = pending;
        pending = NOT_ARMED;
        boolean isEventDue = (due & (EVENT | EVENT_IF_SOLICITED)) != 0;
        disarm(isEventDue ? due | EVENT | EVENT_IF_SOLICITED : due);
        if (isEventDue) {
            listener.onNotify();
        }
        if ((due & WAKE_UP) != 0) {
            listener.onAwaited();
        }
    }

    private void disarm(int done) {
        int now = armed.get();
        while (!armed.compareAndSet(now, now & ~done)) {
            now = armed.get();
        }
    }

    /** {@return until when a notification is delayed, {@link Long#MAX_VALUE} if none is} */
    public long notificationDueNs() {
        return notificationDueNs;
    }

    /** Sends a delayed notification that is due. {@return whether no notification is delayed any more} */
    public boolean notifyIfDue(long nowNs) {
        if (notificationDueNs <= nowNs) {
            announce();
        }
        return notificationDueNs == Long.MAX_VALUE;
    }

    /**
     * Puts notifications off.
     *
     * @param count until so many completions have arrived
     * @param periodNs or so much time has passed
     */
    public void moderate(int count, long periodNs) {
        moderatedCount = count;
        moderatedNs = periodNs;
        if (pendingCount > 0) {
            announce();
        }
    }

    /**
     * Removes the completions of a queue pair that no thread has taken. A thread that reads in place keeps the one that it has
     * reached.
     */
    public void remove(int queuePairNumber) {
        boolean isAny = false;
        for (long i = taken; i < end; i++) {
            CompletionSlot slot = slotOrNull(i);
            if (slot != null && slot.queuePairNumber() == queuePairNumber) {
                slot.remove();
                isAny = true;
            }
        }
        if (isAny) {
            compactIfFree();
        }
    }

    /** If a thread is in a batch, the removed ones keep their room until they are passed. */
    private synchronized void compactIfFree() {
        if (isFree()) {
            compact();
        }
    }

    /** Closes the gaps of the removed ones. Under {@link #lockTakers} as well. */
    private void compact() {
        if (isInBatch) {
            return;
        }
        @Nullable
        CompletionSlot[] present = slots;
        int mask = present.length - 1;
        long to = taken;
        for (long i = to; i < end; i++) {
            CompletionSlot slot = slot(i);
            if (!slot.isRemoved()) {
                present[(int) i & mask] = present[(int) to & mask];
                present[(int) to++ & mask] = slot;
            }
        }
        end = to;
    }

    /**
     * Changes the capacity. Under {@link #lockTakers} as well.
     *
     * @return false if it holds more than that
     */
    public boolean resize(int newCapacity) {
        compact();
        if (end - taken > newCapacity) {
            return false;
        }
        if (slots.length > slotsFor(newCapacity)) {
            slots = moved(taken, slotsFor(newCapacity));
        }
        capacity = newCapacity;
        return true;
    }

    // ---------------------------------------------------------------- for applications

    /** Requests an event for the next completion. */
    public void arm(boolean solicitedOnly) {
        ask(solicitedOnly ? EVENT_IF_SOLICITED : EVENT);
    }

    /** {@return whether an event is requested and has not come yet} */
    public boolean isEventAsked() {
        return (armed.get() & (EVENT | EVENT_IF_SOLICITED)) != 0;
    }

    /** Requests a wake-up of the waiting threads for the next completion. Does not affect events. */
    public void armForWaiters() {
        ask(WAKE_UP);
    }

    private void ask(int wanted) {
        int now = armed.get();
        while ((now & wanted) == 0 && !armed.compareAndSet(now, now | wanted)) {
            now = armed.get();
        }
    }

    /** {@return whether a completion was lost because the queue was full} */
    public boolean isOverrun() {
        return isOverrun;
    }

    /** Records that a completion was lost. */
    public void reportOverrun() {
        listener.onOverrun();
    }

    /** Keeps all threads from taking completions, until {@link #unlockTakers}. {@return false if it is closed, and one reads in place} */
    public boolean lockTakers() {
        return keep();
    }

    /** Ends {@link #lockTakers}. */
    public void unlockTakers() {
        giveBack();
    }

    /** Takes the oldest completions. {@return how many} */
    public int take(WorkCompletion[] into) {
        if (taken == end) {
            return 0;
        }
        synchronized (this) {
            if (!mayTake()) {
                return 0;
            }
            long at = taken;
            long limit = end;
            int count = 0;
            while (at < limit && count < into.length) {
                CompletionSlot slot = slot(at++);
                if (!slot.isRemoved()) {
                    into[count++].assign(slot);
                }
            }
            taken = at;
            return count;
        }
    }

    /** Takes the oldest completion. {@return whether there was one} */
    public boolean take(WorkCompletion into) {
        if (taken == end) {
            return false;
        }
        synchronized (this) {
            if (!mayTake()) {
                return false;
            }
            long at = taken;
            long limit = end;
            while (at < limit) {
                CompletionSlot slot = slot(at++);
                if (!slot.isRemoved()) {
                    into.assign(slot);
                    taken = at;
                    return true;
                }
            }
            taken = at;
            return false;
        }
    }

    // ---------------------------------------------------------------- batches

    /** Begins to read in place. {@return whether there is a completion; if not, nothing has begun} */
    public boolean startBatch() {
        if (!keep()) {
            return false;
        }
        if (isInBatch) {
            giveBack();
            throw new IllegalStateException("this thread has begun a batch already: end it first");
        }
        long first = firstFrom(taken);
        taken = first;
        if (first == end) {
            giveBack();
            return false;
        }
        isInBatch = true;
        batchAt = first;
        return true;
    }

    /** Moves to the next completion. {@return whether there is one} */
    public boolean nextInBatch() {
        requireBatch();
        long next = firstFrom(batchAt + 1);
        if (next >= end) {
            return false;
        }
        batchAt = next;
        return true;
    }

    /** {@return the completion that was reached} */
    public WorkCompletion currentInBatch() {
        requireBatch();
        return slot(batchAt);
    }

    /** Frees the slots that were read. */
    public void endBatch() {
        requireBatch();
        taken = batchAt + 1;
        isInBatch = false;
        giveBack();
    }

    private void requireBatch() {
        if (!isKeeper() || !isInBatch) {
            throw new IllegalStateException(
                    "this thread has not begun a batch: start polling first");
        }
    }

    /** {@return whether the calling thread may take} False if it has waited and the ring is closed. Within the monitor. */
    private boolean mayTake() {
        awaitTurn();
        if (!isInBatch) {
            return true;
        }
        if (isKeptByOther()) {
            return false;
        }
        throw new IllegalStateException("this thread is in a batch: end it first");
    }

    /** {@return the first from an index on that is not removed, the end if there is none} */
    private long firstFrom(long index) {
        long at = index;
        while (at < end && slot(at).isRemoved()) {
            at++;
        }
        return at;
    }

    private CompletionSlot slot(long index) {
        CompletionSlot slot = slotOrNull(index);
        if (slot == null) {
            throw new IllegalStateException("completion " + index + " was not added");
        }
        return slot;
    }

    private @Nullable CompletionSlot slotOrNull(long index) {
        @Nullable
        CompletionSlot[] present = slots;
        return present[(int) index & present.length - 1];
    }
}
