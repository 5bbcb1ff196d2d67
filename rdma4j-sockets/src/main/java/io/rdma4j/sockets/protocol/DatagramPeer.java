// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * What is known of a peer that datagrams go to, and so which way the next one takes. The first goes over UDP, behind an {@link
 * Introduction}, and the answer names the peer's queue pair. Of a peer that is silent one datagram in a second goes over UDP again: it may be
 * another program at the same port by now, with another queue pair.
 *
 * <p>Not thread safe.
 */
public final class DatagramPeer {
    private static final int UNKNOWN = -1;
    private static final long SILENCE_NS = 1_000_000_000;

    private int queuePair = UNKNOWN;
    /** When it has shown that it is there, or was asked. */
    private long sinceNs;

    /** {@return whether its queue pair is known} */
    public boolean isKnown() {
        return queuePair != UNKNOWN;
    }

    /** {@return the number of its queue pair, if that is known} */
    public int queuePairNumber() {
        return queuePair;
    }

    /** {@return whether the datagram that is sent now introduces this side, over UDP} */
    public boolean takesIntroduction(long nowNs) {
        if (!isKnown()) {
            return true;
        }
        if (nowNs - sinceNs < SILENCE_NS) {
            return false;
        }
        sinceNs = nowNs;
        return true;
    }

    /** A datagram of it has arrived over RDMA. */
    public void onDatagram(long nowNs) {
        sinceNs = nowNs;
    }

    /** It has introduced itself. */
    public void onIntroduction(Introduction introduction, long nowNs) {
        queuePair = introduction.queuePairNumber();
        sinceNs = nowNs;
    }
}
