// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.host.HostAddress;

import java.net.InetAddress;
import java.util.List;

/**
 * The state of a network interface at one moment.
 *
 * @param isPresent whether the interface exists, under its name and with its number
 * @param isUp whether it carries packets
 * @param addresses its addresses that can be used
 * @param unusable its other addresses
 */
public record PortView(boolean isPresent, boolean isUp, List<InetAddress> addresses,
        List<HostAddress> unusable) {
    /** With addresses that can all be used. */
    public PortView(boolean isPresent, boolean isUp, List<InetAddress> addresses) {
        this(isPresent, isUp, addresses, List.of());
    }
}
