package io.rdma4j.protocol.ibcm;

/** Something of a connection manager that wants to be called at a time. */
interface CmTimer {
    /** {@return when; it does not change while the timer is scheduled} */
    long deadlineNs();

    /** {@return a number of its own, which decides between equal deadlines} */
    long order();

    /** The deadline has passed; the timer is no longer scheduled. */
    void onDeadline(long nowNs);
}
