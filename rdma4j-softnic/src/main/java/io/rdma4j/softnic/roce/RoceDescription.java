// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketLength;
import io.rdma4j.softnic.verbs.DeviceDescription;
import io.rdma4j.softnic.verbs.Limits;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceLimit;
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

/** A RoCE device: all types of queue pairs and all operations; its GIDs are its addresses. */
enum RoceDescription implements DeviceDescription {
    INSTANCE;

    private static final int ACKNOWLEDGE_DELAY = 15;

    @Override
    public DeviceAttributes attributes(long nodeGuid) {
        return Limits.attributes(nodeGuid,
                EnumSet.of(DeviceCapability.BAD_PKEY_CNTR, DeviceCapability.BAD_QKEY_CNTR,
                        DeviceCapability.RC_RNR_NAK_GEN),
                AtomicCapability.GLOBAL, ACKNOWLEDGE_DELAY,
                Map.of(DeviceLimit.MAX_MCAST_GRP, (long) Limits.GROUPS,
                        DeviceLimit.MAX_MCAST_QP_ATTACH, (long) Limits.GROUP_MEMBERS,
                        DeviceLimit.MAX_TOTAL_MCAST_QP_ATTACH,
                        (long) Limits.GROUPS * Limits.GROUP_MEMBERS, DeviceLimit.MAX_AH,
                        (long) Limits.ADDRESS_HANDLES, DeviceLimit.MAX_PKEYS, 1L),
                Map.of(QueuePairType.RC, EnumSet.allOf(OnDemandCapability.class),
                        QueuePairType.UC,
                        EnumSet.of(OnDemandCapability.SEND, OnDemandCapability.RECEIVE,
                                OnDemandCapability.WRITE, OnDemandCapability.SHARED_RECEIVE),
                        QueuePairType.UD, EnumSet.of(OnDemandCapability.SEND,
                                OnDemandCapability.RECEIVE, OnDemandCapability.SHARED_RECEIVE)));
    }

    @Override
    public List<Gid> gidTable(long nodeGuid, List<Gid> addresses) {
        return addresses;
    }

    @Override
    public int gidTableLength() {
        return Limits.ADDRESSES;
    }

    @Override
    public GidType gidType() {
        return GidType.ROCE_V2;
    }

    @Override
    public List<Integer> partitionKeys() {
        return List.of(OutgoingPacket.DEFAULT_PKEY);
    }

    @Override
    public Set<PortFlag> portFlags() {
        return Set.of(PortFlag.GRH_REQUIRED);
    }

    @Override
    public Mtu largestMtu(int linkBytes, boolean isIpv4) {
        return PacketLength.largestMtu(linkBytes, isIpv4);
    }
}
