// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many events of one object threads have taken and not acknowledged. Thread safe.
 *
 * <p>An object must not be closed while a thread holds an event of it, and no thread must get one once it is closed. So one
 * atomic step decides: {@link #end} succeeds only if no event is taken, and afterwards an {@link EventQueue} neither hands out
 * nor accepts an event of the object. A queue counts an event in the step that removes it. The queues of an object may be
 * several, and an object may move from one to another.
 *
 * <p>C: what {@code rdma_destroy_id}, {@code ibv_destroy_qp} and others wait for.
 */
public final class UnacknowledgedEvents {
    private static final int ENDED = -1;

    private final @Nullable UnacknowledgedEvents whole;
    private final AtomicInteger count = new AtomicInteger();

    /** Of an object that has none yet. */
    public UnacknowledgedEvents() {
        this(null);
    }

    private UnacknowledgedEvents(@Nullable UnacknowledgedEvents whole) {
        this.whole = whole;
    }

    /**
     * {@return a count of the events of one kind, which are acknowledged apart from the others} They are counted here as well:
     * the object ends with all kinds at once.
     */
    public UnacknowledgedEvents ofKind() {
        return new UnacknowledgedEvents(this);
    }

    /** {@return the number of events that are taken and not acknowledged; 0 after the end} */
    public int count() {
        return Math.max(0, count.get());
    }

    /**
     * Acknowledges events.
     *
     * @param events how many, 0 or more
     * @return false if fewer are taken; then none is acknowledged
     */
    public boolean acknowledge(int events) {
        int taken = count.get();
        while (events <= taken) {
            if (count.compareAndSet(taken, taken - events)) {
                return whole == null || whole.acknowledge(events);
            }
            taken = count.get();
        }
        return events == 0;
    }

    /**
     * The object is about to be closed: no thread gets an event of it any more, and none is accepted. Its queues still have
     * to {@link EventQueue#discard} those that wait. Idempotent.
     *
     * @return false if an event is taken and not acknowledged; then nothing has changed
     */
    public boolean end() {
        return count.compareAndSet(0, ENDED) || isEnded();
    }

    boolean isEnded() {
        return count.get() == ENDED || (whole != null && whole.isEnded());
    }

    /** A thread takes an event. {@return false if the object has ended} */
    boolean take() {
        if (whole != null && !whole.take()) {
            return false;
        }
        int taken = count.get();
        while (taken != ENDED) {
            if (count.compareAndSet(taken, taken + 1)) {
                return true;
            }
            taken = count.get();
        }
        return false;
    }
}
