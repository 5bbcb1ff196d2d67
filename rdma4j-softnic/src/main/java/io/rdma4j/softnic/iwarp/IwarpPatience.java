package io.rdma4j.softnic.iwarp;

/**
 * How long a device waits for its peers.
 *
 * @param requestNs for the request, on a TCP connection that was accepted
 * @param replyNs for a TCP connection and the reply, by who has asked
 * @param firstUnitNs for the unit that the initiator has promised to send first
 * @param lingerNs on a connection that is to end, until what was posted has been sent; on one that is over, until that has left,
 *        and then until the peer has closed its side
 * @param closeNs for all connections that linger, by a device that is closed
 */
record IwarpPatience(long requestNs, long replyNs, long firstUnitNs, long lingerNs,
        long closeNs) {
    private static final long SECOND_NS = 1_000_000_000;

    /** For request and reply as Linux's siw, which waits for the others without end. */
    static final IwarpPatience USUAL = new IwarpPatience(5 * SECOND_NS, 10 * SECOND_NS,
            10 * SECOND_NS, 30 * SECOND_NS, 2 * SECOND_NS);
}
