// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import java.net.InetAddress;

/**
 * Which multicast group is joined, and how.
 *
 * @param group a multicast address
 * @param local the address that datagrams leave from, of the group's IP version
 * @param trafficClass of datagrams to the group, 0 to 255
 * @param isSendOnly whether nothing is received from the group
 */
public record JoinRequest(InetAddress group, InetAddress local, int trafficClass,
        boolean isSendOnly) {}
