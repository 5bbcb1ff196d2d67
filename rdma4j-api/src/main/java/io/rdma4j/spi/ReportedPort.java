package io.rdma4j.spi;

import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PhysicalState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.PortState;

import java.util.Set;

/** What a device reports of a port. Keeps a copy of the flags. */
public record ReportedPort(int stateCode, Mtu maxMtu, Mtu activeMtu, int gidTableLength,
        int capabilityFlags, int capabilityFlags2, long maxMessageSize, int badPkeyCounter,
        int qkeyViolationCounter, int pkeyTableLength, int lid, int smLid, int lmc,
        int maxVirtualLanes, int smServiceLevel, int subnetTimeoutExponent, int initTypeReply,
        int activeWidthCode, int activeSpeedCode, int physicalStateCode, LinkLayer linkLayer,
        Set<PortFlag> flags) implements PortAttributes {
    public ReportedPort {
        flags = Set.copyOf(flags);
    }

    @Override
    public PortState state() {
        return PortState.ofCode(stateCode);
    }

    @Override
    public PhysicalState physicalState() {
        return PhysicalState.ofCode(physicalStateCode);
    }
}
