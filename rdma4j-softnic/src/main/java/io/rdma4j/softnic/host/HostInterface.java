// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import java.util.List;

/**
 * A network interface at one moment.
 *
 * @param name its name, which can change, and which another interface can have later
 * @param index its number, which no other interface gets while the system runs
 * @param isUp whether the administrator has set it up
 * @param isRunning whether it can carry packets, so far as the system knows: it has a carrier
 * @param isLoopback whether what it sends comes back to this machine
 * @param mtu the most bytes of a packet, IP header included
 * @param addresses its addresses; those of one IP version in the order in which they came, where the system tells it
 */
public record HostInterface(String name, int index, boolean isUp, boolean isRunning,
        boolean isLoopback, int mtu, List<HostAddress> addresses) {
    public HostInterface {
        addresses = List.copyOf(addresses);
    }

    /** {@return whether packets can be sent and received} */
    public boolean carriesPackets() {
        return isUp && isRunning;
    }
}
