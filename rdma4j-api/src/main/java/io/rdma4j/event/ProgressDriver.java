// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import java.nio.channels.Selector;

/**
 * Lets a thread that waits for an event run the device meanwhile, so that an arriving packet wakes that thread and no other.
 *
 * <p>One thread at a time drives, on behalf of a {@link Waiter}. {@link #tryAcquire}, {@link #wake} and
 * {@link #waitElsewhere} never wait and make no callbacks, so they may be called under locks; {@link #drive(long)}, {@link #canAwait} and
 * {@link #release} may not. A device that publishes events from a thread of its own uses {@link #NONE}.
 */
public interface ProgressDriver {
    /** The driver of a device that needs none: no waiting thread ever drives. */
    ProgressDriver NONE = new ProgressDriver() {
        @Override
        public boolean tryAcquire(Waiter waiter) {
            return false;
        }

        @Override
        public void drive(long timeoutNs) {
            throw new IllegalStateException("no thread is in");
        }

        @Override
        public void release() {
            throw new IllegalStateException("no thread is in");
        }

        @Override
        public void wake() {}

        @Override
        public void waitElsewhere() {}

        @Override
        public void forget(Waiter waiter) {}
    };

    /** The threads that wait for one queue of events, or one set of queues. For any thread. */
    interface Waiter {
        /** {@return whether there is nothing to wait for any more} */
        boolean isDone();

        /**
         * {@return whether it waits for events that are frequent and urgent, such as completions} Other waiters
         * give precedence to it, and may not drive while it comes and goes.
         */
        boolean isUrgent();

        /**
         * The driver has become free. Wakes a thread that was not let in, under the lock that it had called
         * {@link ProgressDriver#tryAcquire} under.
         *
         * @return false if none waits any more
         */
        boolean onDriverFree();
    }

    /**
     * Makes the calling thread the one that drives, if it may now. Otherwise it sleeps, and the device runs without it; the
     * waiter of a platform thread is notified when the driver has become free.
     *
     * @return whether the calling thread drives; then it must call {@link #release} later
     */
    boolean tryAcquire(Waiter waiter);

    /**
     * Runs the device, and sleeps while it has nothing to do, until the waiter is done, the thread is interrupted,
     * time is up, or the device needs the thread no more.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    void drive(long timeoutNs);

    /**
     * {@return whether a thread that drives can wait for a selector as well} If not, a thread that waits for one does not drive. For the
     * thread that selects by it. The first calls look for its descriptor, and wake the selector up for that.
     */
    default boolean canAwait(Selector selector) {
        return false;
    }

    /**
     * As {@link #drive(long)}, and until a selector has something for a selection: a key that is ready, or a wake-up. The calling thread
     * has the selector's monitor, as in a selection.
     *
     * @throws IllegalStateException if {@link #canAwait} has not said that it can
     */
    default void drive(long timeoutNs, Selector selector) {
        throw new IllegalStateException("this driver awaits no selector");
    }

    /** The calling thread stops driving. */
    void release();

    /** Makes the thread that drives check whether its waiter is done. */
    void wake();

    /**
     * Announces that the calling thread will wait without driving the device, for example in a selector. Another thread
     * drives the device from now on, even if the calling thread has polled a moment ago.
     */
    void waitElsewhere();

    /** Stops notifying a waiter that the driver is free. */
    void forget(Waiter waiter);
}
