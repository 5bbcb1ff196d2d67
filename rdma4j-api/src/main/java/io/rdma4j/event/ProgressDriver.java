package io.rdma4j.event;

/**
 * What makes a device go on: a thread that waits for an event runs the device meanwhile, so that what arrives wakes
 * that thread and no other.
 *
 * <p>One thread is in it at a time, on behalf of a {@link Waiter}. {@link #tryAcquire}, {@link #wake} and
 * {@link #waitElsewhere} never wait and call nobody back, so they may be called under locks; {@link #drive} and
 * {@link #release} may not. A device whose events are published by a thread of its own needs none of this:
 * {@link #NONE}.
 */
public interface ProgressDriver {
    /** The driver of a device that goes on by itself: no thread that waits is let in. */
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
         * {@return whether it waits for what comes often and is expected at once, such as completions} Other waiters
         * leave the driver to it, and are not let in while it comes and goes.
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
     * Lets the calling thread in unless another is in. A waiter that is not let in is told later that the driver has
     * become free; its thread sleeps meanwhile, and the device goes on without it.
     *
     * @return whether the thread is in; then it calls {@link #release} later
     */
    boolean tryAcquire(Waiter waiter);

    /**
     * Runs the device, and sleeps while it has nothing to do, until the waiter is done, the thread is interrupted,
     * time is up, or the device needs the thread no more.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    void drive(long timeoutNs);

    /** The calling thread is no longer in. */
    void release();

    /** Makes the thread that is in look whether its waiter is done. */
    void wake();

    /**
     * The calling thread is about to wait where it does not drive the device, such as in a selector: the device goes
     * on without it at once, whether the thread has polled a moment ago or not.
     */
    void waitElsewhere();

    /** Tells a waiter no more that the driver is free. */
    void forget(Waiter waiter);
}
