package io.rdma4j.protocol.queue;

/** Why packets are sent again. */
public enum RetransmissionCause {
    /** No answer within the time-out of the queue pair; costs a retry. */
    TIMEOUT,
    /** No answer within what the round trips so far let expect; costs no retry. */
    EARLY,
    /** One packet, to learn from its answer what was lost; costs no retry. */
    PROBE,
    /** The peer said that it misses a packet. */
    SEQUENCE_NAK,
    /** An answer shows that an earlier one was lost. */
    GAP
}
