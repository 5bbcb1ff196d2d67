// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.verbs.DeviceDescription;
import io.rdma4j.softnic.verbs.Limits;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.QueuePairType;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** An iWARP device: reliable connections without atomics; its one GID begins with its MAC address, and names no peer. */
enum IwarpDescription implements DeviceDescription {
    INSTANCE;

    /** Of which the first is in use. */
    private static final int GID_TABLE = 16;
    /** In the middle of an EUI-64 that is made of a MAC address. */
    private static final int OF_MAC = 0xfffe;
    private static final long UNIVERSAL_BIT = 1L << 57;

    @Override
    public DeviceAttributes attributes(long nodeGuid) {
        Set<OnDemandCapability> connected = EnumSet.of(OnDemandCapability.SEND,
                OnDemandCapability.RECEIVE, OnDemandCapability.WRITE, OnDemandCapability.READ,
                OnDemandCapability.SHARED_RECEIVE);
        return Limits.attributes(nodeGuid, Set.of(), AtomicCapability.NONE, 0, Map.of(),
                Map.of(QueuePairType.RC, connected));
    }

    @Override
    public List<Gid> gidTable(long nodeGuid, List<Gid> addresses) {
        return List.of(new Gid(macOf(nodeGuid) << Short.SIZE, 0));
    }

    /** {@return the 48-bit MAC address in a node GUID; for a GUID without one, 40 bits of the GUID} */
    private static long macOf(long nodeGuid) {
        if ((nodeGuid >>> 24 & 0xffff) == OF_MAC) {
            return (nodeGuid ^ UNIVERSAL_BIT) >>> 40 << 24 | (nodeGuid & 0xff_ffff);
        }
        return nodeGuid >>> 40 << 24 | (nodeGuid & 0xffff);
    }

    @Override
    public int gidTableLength() {
        return GID_TABLE;
    }

    @Override
    public GidType gidType() {
        return GidType.INFINIBAND;
    }

    @Override
    public List<Integer> partitionKeys() {
        return List.of();
    }

    @Override
    public Set<PortFlag> portFlags() {
        return Set.of();
    }

    /** TCP finds the length of its segments by itself; as siw, the port names the largest that does not exceed the link's. */
    @Override
    public Mtu largestMtu(int linkBytes, boolean isIpv4) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() <= linkBytes) {
                largest = mtu;
            }
        }
        return largest;
    }
}
