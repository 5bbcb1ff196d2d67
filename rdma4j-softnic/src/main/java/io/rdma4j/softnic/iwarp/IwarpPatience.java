// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

/**
 * How long a device waits for its peers.
 *
 * @param requestNs for the request on an accepted TCP connection
 * @param replyNs for the TCP connection and the reply, on the active side
 * @param firstUnitNs for the first unit that the initiator has promised
 * @param progressNs while posted work, or an answer to the peer, cannot be sent, or a READ is not answered: until a byte
 *        passes in either direction
 * @param lingerNs on a connection that is being disconnected, until the posted work has been sent; on one that has ended,
 *        until its bytes have left, and then until the peer has closed its side
 * @param closeNs for all lingering connections when the device is closed
 */
record IwarpPatience(long requestNs, long replyNs, long firstUnitNs, long progressNs,
        long lingerNs, long closeNs) {
    private static final long SECOND_NS = 1_000_000_000;

    /** Request and reply as in Linux's siw, which waits for the others without a limit. */
    static final IwarpPatience USUAL = new IwarpPatience(5 * SECOND_NS, 10 * SECOND_NS,
            10 * SECOND_NS, 60 * SECOND_NS, 30 * SECOND_NS, 2 * SECOND_NS);
}
