package io.rdma4j.protocol.iwarp;

/**
 * What the initiator sends first, so that a responder which must not send before it has heard something may. It belongs to
 * no request. Source: RFC 6581 5.1.
 */
public enum ReadyToReceive {
    /** Nothing. */
    NONE,
    /** A WRITE of no bytes. */
    WRITE,
    /** A READ of no bytes. */
    READ
}
