// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

/** Receives the packets of a port. */
public interface PacketHandler {
    /** A datagram with the right ICRC arrived. */
    void onDatagram(ReceivedDatagram datagram);

    /** A datagram with a wrong ICRC, or too short for one, arrived. */
    void onDamaged(Gid source, int length);
}
