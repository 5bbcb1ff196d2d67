// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

/** An object of a connection manager with a deadline. */
interface CmTimer {
    /** {@return when; it does not change while the timer is scheduled} */
    long deadlineNs();

    /** {@return a number of its own, which decides between equal deadlines} */
    long order();

    /**
     * The deadline has passed; the timer is no longer scheduled.
     *
     * @return whether a message of this side was not answered in time
     */
    boolean onDeadline(long nowNs);
}
