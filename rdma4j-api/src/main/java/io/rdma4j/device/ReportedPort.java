// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PhysicalState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.PortState;

import java.util.Set;

/** What a device reports of a port, in the numbers of verbs.h. */
public record ReportedPort(int stateCode, int maxMtuCode, int activeMtuCode, int gidTableLength,
        int capabilityFlags, int capabilityFlags2, long maxMessageSize, int badPkeyCounter,
        int qkeyViolationCounter, int pkeyTableLength, int lid, int smLid, int lmc,
        int maxVirtualLanes, int smServiceLevel, int subnetTimeoutExponent, int initTypeReply,
        int activeWidthCode, int activeSpeedCode, int physicalStateCode,
        int linkLayerCode, int flagBits) implements PortAttributes {
    @Override
    public PortState state() {
        return PortState.ofCode(stateCode);
    }

    @Override
    public PhysicalState physicalState() {
        return PhysicalState.ofCode(physicalStateCode);
    }

    @Override
    public Mtu maxMtu() {
        return largestMtu(maxMtuCode);
    }

    @Override
    public Mtu activeMtu() {
        return largestMtu(activeMtuCode);
    }

    private static Mtu largestMtu(int code) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu each : Mtu.values()) {
            if (each.code() <= code) {
                largest = each;
            }
        }
        return largest;
    }

    @Override
    public LinkLayer linkLayer() {
        return LinkLayer.ofCode(linkLayerCode);
    }

    @Override
    public Set<PortFlag> flags() {
        return ReportedBits.named(flagBits, PortFlag.class, PortFlag::bit);
    }
}
