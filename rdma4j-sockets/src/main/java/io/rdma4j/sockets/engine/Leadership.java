// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import java.util.function.BooleanSupplier;

/** What a thread that waits may do for all connections: wait for the events of all and handle them, one thread at a time. Thread safe. */
interface Leadership {
    /** {@return whether the calling thread leads now} Then it must {@link #stopLeading}. A virtual thread never does. */
    boolean tryLead();

    /**
     * Leads until it is done, time is up, or the thread is interrupted, whose status is set then.
     *
     * @param endNs of {@link System#nanoTime}; {@link Long#MAX_VALUE} for no limit
     * @return false if it has ended before, because another thread takes over: then this one has to sleep
     */
    boolean lead(BooleanSupplier isDone, long endNs);

    /** The calling thread leads no more. */
    void stopLeading();

    /** Makes the leader look whether it has anything to wait for, unless it is the calling thread. */
    void wakeLeader();

    /** The calling thread is about to sleep until another wakes it. */
    void onSleep();

    /**
     * It has slept.
     *
     * @param isDone whether bytes have come that it waited for, or room for them; not for what comes once, as a connection
     */
    void onAwake(boolean isDone);
}
