package io.rdma4j.softnic.iwarp;

/**
 * How long a device waits for its peers.
 *
 * @param requestNs for the request, on a TCP connection that was accepted
 * @param replyNs for a TCP connection and the reply, by who has asked
 * @param firstUnitNs for the unit that the initiator has promised to send first
 * @param lingerNs until what was sent has left and the peer has closed its side, on a connection that is over
 */
record IwarpPatience(long requestNs, long replyNs, long firstUnitNs, long lingerNs) {
    private static final long SECOND_NS = 1_000_000_000;

    /** For request and reply as Linux's siw, which waits for the others without end. */
    static final IwarpPatience USUAL = new IwarpPatience(5 * SECOND_NS, 10 * SECOND_NS,
            10 * SECOND_NS, 30 * SECOND_NS);
}
