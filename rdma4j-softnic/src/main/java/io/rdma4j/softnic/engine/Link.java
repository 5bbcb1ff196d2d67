package io.rdma4j.softnic.engine;

/**
 * What the engine's queue pairs send and receive by: a transport on its network. Every method but {@link #await} and
 * {@link #wake} is for the engine's owner.
 */
public interface Link {
    /**
     * Takes what has arrived, a bounded amount of it, and gives it to the queue pairs.
     *
     * @param isOften whether this may be called so often that what was quiet need not be asked each time, nor the rest for
     *        more than it has at once
     * @return whether there is more at once
     */
    boolean receive(long nowNs, boolean isOften);

    /** {@return whether {@link #receive} found anything last time} */
    boolean hasReceived();

    /** Lets timers of its own run that are due. */
    void onTime(long nowNs);

    /**
     * Sends what is its own, before the queue pairs' turn.
     *
     * @return whether queue pairs may send
     */
    boolean beginTransmit(long nowNs);

    /** {@return whether nothing more can be sent now} */
    boolean isFull();

    /**
     * Leaves nothing behind of what was given to it to send, after the queue pairs' turn.
     *
     * @return false if the network takes no more now
     */
    boolean endTransmit();

    /** {@return when a round is due for it although nothing arrives, {@link Long#MAX_VALUE} for never} */
    long deadlineNs();

    /** Sleeps until something arrives, a thread calls {@link #wake}, or the time is over. One thread at a time. */
    void await(long timeoutNs);

    /** Ends the sleep of the thread that sleeps, or of the next. Any thread. */
    void wake();
}
