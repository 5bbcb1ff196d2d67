// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PortFlag;

import java.util.List;
import java.util.Set;

/** The description of a transport's device and its port. For any thread. */
public interface DeviceDescription {
    /** {@return the device attributes} */
    DeviceAttributes attributes(long nodeGuid);

    /**
     * {@return the GID table, in which an empty entry is {@link Gid#ZERO}}
     *
     * @param addresses of the device, each at its place; an empty place is {@link Gid#ZERO}
     */
    List<Gid> gidTable(long nodeGuid, List<Gid> addresses);

    /** {@return how many entries the GID table can have} */
    int gidTableLength();

    /** {@return the type of the GID table's entries} */
    GidType gidType();

    /** {@return the table of partition keys; empty if it has no partitions} */
    List<Integer> partitionKeys();

    /** {@return the requirements of the port} */
    Set<PortFlag> portFlags();

    /**
     * {@return the largest path MTU that packets on a link can have}
     *
     * @param linkBytes the bytes of the longest IP packet of the link
     * @param isIpv4 the IP version of the packets
     */
    Mtu largestMtu(int linkBytes, boolean isIpv4);
}
