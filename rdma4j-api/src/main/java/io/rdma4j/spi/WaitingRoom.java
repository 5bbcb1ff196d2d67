package io.rdma4j.spi;

/**
 * Where a thread that waits for an event drives the device meanwhile, so that what arrives wakes it and
 * nobody else.
 *
 * <p>One guest's thread is in it at a time. {@link #tryEnter}, {@link #wake} and {@link #waitElsewhere} never
 * wait and call nobody back, so they may be called under locks; {@link #stay} and {@link #leave} may not.
 */
public interface WaitingRoom {
    /** Who waits: the threads of one queue of events. For any thread. */
    interface Guest {
        /** {@return whether there is nothing to wait for any more} */
        boolean isDone();

        /**
         * {@return whether it waits for what comes often and is expected at once, such as completions} Others make
         * room for it, and are not let in while it comes and goes.
         */
        boolean isUrgent();

        /**
         * The room has become free. Wakes a thread that could not enter, under the lock that it had called
         * {@link WaitingRoom#tryEnter} under.
         *
         * @return false if none waits any more
         */
        boolean offer();
    }

    /**
     * Lets the calling thread in unless another is there. A guest that is not let in is offered the room
     * later; its thread waits elsewhere meanwhile, and the device works without it.
     *
     * @return whether the thread is in; then it calls {@link #leave} later
     */
    boolean tryEnter(Guest guest);

    /**
     * Drives the device, and sleeps while it has nothing to do, until the guest is done, the thread is
     * interrupted, time is up, or the device needs it no more.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} for ever
     */
    void stay(long timeoutNs);

    /** Leaves it to others. */
    void leave();

    /** Makes the thread that is in look whether its guest is done. */
    void wake();

    /**
     * The calling thread is about to wait in some other place, such as a selector, where it does not drive the
     * device: the device works without it at once, whether it has polled a moment ago or not.
     */
    void waitElsewhere();

    /** Offers the room to a guest no more. */
    void forget(Guest guest);
}
