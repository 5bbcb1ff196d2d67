// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/** What came along with a received message. Reusable. */
public final class ReceiveDetails {
    private boolean isSolicited;
    private boolean hasImmediate;
    private boolean hasInvalidate;
    private int immediateOrRkey;
    private boolean isDatagram;
    private boolean hasRoute;
    private int sourceQueuePair;

    /** Creates details of nothing. */
    public ReceiveDetails() {}

    /** Forgets everything. */
    public ReceiveDetails clear() {
        isSolicited = false;
        hasImmediate = false;
        hasInvalidate = false;
        immediateOrRkey = 0;
        isDatagram = false;
        hasRoute = false;
        sourceQueuePair = 0;
        return this;
    }

    /** The peer solicits an event. */
    public ReceiveDetails solicited(boolean value) {
        isSolicited = value;
        return this;
    }

    /** Immediate data came along. */
    public ReceiveDetails immediate(int value) {
        hasImmediate = true;
        immediateOrRkey = value;
        return this;
    }

    /** A key was invalidated. */
    public ReceiveDetails invalidated(int rkey) {
        hasInvalidate = true;
        immediateOrRkey = rkey;
        return this;
    }

    /** It was a datagram, from that queue pair. */
    public ReceiveDetails datagram(int fromQueuePair) {
        isDatagram = true;
        sourceQueuePair = fromQueuePair;
        return this;
    }

    /** Before the payload stands which way the datagram came (the flag {@code IBV_WC_GRH}). */
    public ReceiveDetails routed() {
        hasRoute = true;
        return this;
    }

    /** {@return whether it was a datagram} */
    public boolean isDatagram() {
        return isDatagram;
    }

    /** {@return whether before the payload stands which way the datagram came} */
    public boolean hasRoute() {
        return hasRoute;
    }

    /** {@return the queue pair a datagram comes from} */
    public int sourceQueuePairNumber() {
        return sourceQueuePair;
    }

    /** {@return whether the peer solicits an event} */
    public boolean isSolicited() {
        return isSolicited;
    }

    /** {@return whether immediate data came along} */
    public boolean hasImmediate() {
        return hasImmediate;
    }

    /** {@return whether a key was invalidated} */
    public boolean hasInvalidate() {
        return hasInvalidate;
    }

    /** {@return the immediate data, or the key} */
    public int immediateOrRkey() {
        return immediateOrRkey;
    }
}
