// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce;

/** Why packets are sent again. */
public enum RetransmissionCause {
    /** No answer within the time-out of the queue pair; costs a retry. One packet is sent again. */
    TIMEOUT,
    /** No answer for long, by the round trips so far or for want of any; costs no retry. One packet is sent again. */
    RTT_ESTIMATE,
    /** An answer is overdue by the round trips so far; costs no retry. One packet is sent again. */
    PROBE,
    /** The peer said that it misses a packet. Everything from there on is sent again. */
    SEQUENCE_NAK,
    /** An answer shows that an earlier one was lost. Everything from there on is asked for again. */
    IMPLIED_NAK
}
