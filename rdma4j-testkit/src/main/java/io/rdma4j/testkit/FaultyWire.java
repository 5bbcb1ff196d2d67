// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;

/**
 * Two devices and the wire between them, whose faults a test defines. A device implements it, on a
 * simulated or a real network, so that every device is tested with the same faults.
 *
 * <p>Faults name packets as the transport does: by kind and packet sequence number (PSN). A fault is active
 * until it has happened the given number of times; the last defined one is tried first.
 */
public interface FaultyWire extends AutoCloseable {
    /** As often as there are packets. */
    int FOREVER = Integer.MAX_VALUE;

    /** The kind of a packet of a reliable connection. */
    enum PacketKind {
        /** Part of a WRITE, with or without immediate. */
        WRITE,
        /** Part of a READ's answer. */
        READ_RESPONSE,
        /** An acknowledgement, positive or negative. */
        ACKNOWLEDGEMENT
    }

    /** {@return the device of the requesting queue pairs} */
    DeviceContext requester();

    /** {@return the device of the responding queue pairs} */
    DeviceContext responder();

    /** Lets packets travel and time pass, a little; called again and again while a test waits. */
    void step();

    /** Loses packets of a kind and PSN, that many of them. */
    void lose(PacketKind kind, int psn, int times);

    /** Loses packets of a kind with any PSN, that many of them. */
    void lose(PacketKind kind, int times);

    /** Cuts the wire, or mends it and ends all other faults. */
    void cut(boolean isCut);

    /** Carries a positive acknowledgement of a PSN that the responder's queue pair never gave. */
    void forgeAcknowledgement(QueuePair requester, QueuePair responder, int psn);

    /** Replaces the next packet of a READ's answer by one of that PSN with that many bytes. */
    void shortenReadResponse(int bytes);

    /**
     * Replaces the WRITE packet of a PSN by the middle packet of a WRITE: full of payload, which neither
     * begins nor ends there.
     */
    void replaceByMiddleOfWrite(int psn);

    /** Closes both devices. */
    @Override
    void close() throws RdmaException;
}
