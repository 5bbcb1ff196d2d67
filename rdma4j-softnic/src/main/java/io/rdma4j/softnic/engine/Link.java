// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.nio.channels.Selector;

/**
 * A transport on its network, by which the engine's queue pairs send and receive. Only the engine's owner may call its
 * methods, except {@link #await(long)}, its like, {@link #isQuiet} and {@link #wake}.
 */
public interface Link {
    /**
     * Receives a bounded amount and passes it to the queue pairs.
     *
     * @param isOften whether the caller comes back at once, so that quiet sources need not be checked each time, nor the
     *        others for more than they have at once
     * @return whether there is more to receive at once
     */
    boolean receive(long nowNs, boolean isOften);

    /** {@return whether {@link #receive} found anything last time} */
    boolean hasReceived();

    /**
     * {@return whether {@link #receive} would find nothing, and there is nothing to send, as far as a look at memory tells} False if it does not tell. For any
     * thread; to others than the owner it may be out of date.
     */
    default boolean isQuiet() {
        return false;
    }

    /** Runs the link's own due timers. */
    void onTime(long nowNs);

    /**
     * Sends the link's own packets, before those of the queue pairs.
     *
     * @return whether queue pairs may send
     */
    boolean beginTransmit(long nowNs);

    /** {@return whether nothing more can be sent now} */
    boolean isFull();

    /**
     * Flushes everything that the queue pairs gave it to send.
     *
     * @return false if the network takes no more now
     */
    boolean endTransmit();

    /** {@return when the link needs a round if nothing arrives, {@link Long#MAX_VALUE} for never} */
    long deadlineNs();

    /** Sleeps until something arrives, a thread calls {@link #wake}, or the time is over. One thread at a time. */
    void await(long timeoutNs);

    /** {@return whether {@link #await(long, Selector)} can wait for a selector} For the thread that selects by it; the first calls wake it up. */
    default boolean canAwait(Selector selector) {
        return false;
    }

    /**
     * As {@link #await(long)}, and until a selector has something. With a time-out of 0 it may look at the selector alone.
     *
     * @return whether the selector has something
     * @throws IllegalStateException if {@link #canAwait} has not said that it can
     */
    default boolean await(long timeoutNs, Selector selector) {
        throw new IllegalStateException("no selector is awaited here");
    }

    /** Ends the sleep of the thread that sleeps, or of the next. Any thread. */
    void wake();
}
