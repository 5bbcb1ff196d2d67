// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import java.util.function.BooleanSupplier;

/** What a thread that waits may do for all connections: wait for the events of all and handle them, one thread at a time. Thread safe. */
interface Leadership {
    /** {@return whether the calling thread leads now} Then it must {@link #stopLeading}. A virtual thread never does. */
    boolean tryLead();

    /**
     * Leads until it is done, time is up, the thread is interrupted, whose status is set then, or another thread takes over.
     *
     * @param endNs of {@link System#nanoTime}; {@link Long#MAX_VALUE} for no limit
     */
    void lead(BooleanSupplier isDone, long endNs);

    /** The calling thread leads no more. */
    void stopLeading();

    /** Makes the leader look whether it has anything to wait for, unless it is the calling thread. */
    void wakeLeader();

    /** The calling thread is about to sleep until another wakes it. */
    void onSleep();

    /** It has slept. */
    void onAwake();

    /**
     * What the calling thread waited for in a channel has come, while it led or slept. Not if its time was up, and not for connections. Before
     * {@link #stopLeading}, if it led.
     */
    void onServed();
}
