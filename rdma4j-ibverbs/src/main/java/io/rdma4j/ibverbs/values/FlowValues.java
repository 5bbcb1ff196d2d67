// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.values;

import io.rdma4j.ibverbs.abi.Layout.FlowAttr;
import io.rdma4j.ibverbs.abi.Layout.FlowSpec;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.EthernetMatch;
import io.rdma4j.verbs.FlowMatch;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.Ipv4Match;
import io.rdma4j.verbs.Ipv6Match;
import io.rdma4j.verbs.PortMatch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Writes flow rules as {@code struct ibv_flow_attr}, followed by {@code struct ibv_flow_spec_...}. Header fields are in
 * network byte order.
 */
public final class FlowValues {
    private static final int DONT_TRAP = 1 << 1;
    /** Of {@code enum ibv_flow_spec_type}. */
    private static final int ETH = 0x20;
    private static final int IPV4 = 0x30;
    private static final int IPV6 = 0x31;
    private static final int IPV4_EXT = 0x32;
    private static final int TCP = 0x40;
    private static final int UDP = 0x41;
    private static final int MAC_BYTES = 6;

    private FlowValues() {}

    /** {@return a rule in new memory} */
    public static MemorySegment of(FlowRule rule, Arena arena) {
        long size = FlowAttr.SIZE + rule.matches().stream().mapToLong(FlowValues::size).sum();
        MemorySegment target = arena.allocate(size, 8);
        Native.putInt(target, FlowAttr.TYPE, rule.type().code());
        Native.putShort(target, FlowAttr.LENGTH, (int) size);
        Native.putShort(target, FlowAttr.PRIORITY, rule.priority());
        Native.putByte(target, FlowAttr.NUM_OF_SPECS, rule.matches().size());
        Native.putByte(target, FlowAttr.PORT, rule.port());
        Native.putInt(target, FlowAttr.FLAGS, rule.isPassedOn() ? DONT_TRAP : 0);
        long at = FlowAttr.SIZE;
        for (FlowMatch match : rule.matches()) {
            write(target.asSlice(at, size(match)), match);
            at += size(match);
        }
        return target;
    }

    private static long size(FlowMatch match) {
        return switch (match) {
            case EthernetMatch _ -> FlowSpec.ETH_SIZE;
            case Ipv4Match ipv4 -> ipv4.isBeyondAddresses()
                    ? FlowSpec.IPV4_EXT_SIZE
                    : FlowSpec.IPV4_SIZE;
            case Ipv6Match _ -> FlowSpec.IPV6_SIZE;
            case PortMatch _ -> FlowSpec.PORTS_SIZE;
        };
    }

    private static void write(MemorySegment target, FlowMatch match) {
        switch (match) {
            case EthernetMatch ethernet -> {
                begin(target, ETH);
                write(target, FlowSpec.ETH_VALUE, ethernet.value());
                write(target, FlowSpec.ETH_MASK, ethernet.mask());
            }
            case Ipv4Match ipv4 when ipv4.isBeyondAddresses() -> {
                begin(target, IPV4_EXT);
                writeAll(target, FlowSpec.IPV4_EXT_VALUE, ipv4.value());
                writeAll(target, FlowSpec.IPV4_EXT_MASK, ipv4.mask());
            }
            case Ipv4Match ipv4 -> {
                begin(target, IPV4);
                writeAddresses(target, FlowSpec.IPV4_VALUE, ipv4.value());
                writeAddresses(target, FlowSpec.IPV4_MASK, ipv4.mask());
            }
            case Ipv6Match ipv6 -> {
                begin(target, IPV6);
                write(target, FlowSpec.IPV6_VALUE, ipv6.value());
                write(target, FlowSpec.IPV6_MASK, ipv6.mask());
            }
            case PortMatch ports -> {
                begin(target, ports.protocol() == PortMatch.Protocol.TCP ? TCP : UDP);
                write(target, FlowSpec.PORTS_VALUE, ports.value());
                write(target, FlowSpec.PORTS_MASK, ports.mask());
            }
        }
    }

    private static void begin(MemorySegment target, int type) {
        Native.putInt(target, FlowSpec.TYPE, type);
        Native.putShort(target, FlowSpec.LENGTH, (int) target.byteSize());
    }

    private static void write(MemorySegment target, long at, EthernetMatch.Fields fields) {
        putBigEndian(target, at + FlowSpec.ETH_DST_MAC, fields.destination(), MAC_BYTES);
        putBigEndian(target, at + FlowSpec.ETH_SRC_MAC, fields.source(), MAC_BYTES);
        putBigEndian(target, at + FlowSpec.ETH_ETHER_TYPE, fields.etherType(), Short.BYTES);
        putBigEndian(target, at + FlowSpec.ETH_VLAN_TAG, fields.vlanTag(), Short.BYTES);
    }

    private static void writeAddresses(MemorySegment target, long at, Ipv4Match.Fields fields) {
        putBigEndian(target, at + FlowSpec.IPV4_SRC_IP, fields.source(), Integer.BYTES);
        putBigEndian(target, at + FlowSpec.IPV4_DST_IP, fields.destination(), Integer.BYTES);
    }

    private static void writeAll(MemorySegment target, long at, Ipv4Match.Fields fields) {
        writeAddresses(target, at, fields);
        Native.putByte(target, at + FlowSpec.IPV4_EXT_PROTO, fields.protocol());
        Native.putByte(target, at + FlowSpec.IPV4_EXT_TOS, fields.typeOfService());
        Native.putByte(target, at + FlowSpec.IPV4_EXT_TTL, fields.timeToLive());
        Native.putByte(target, at + FlowSpec.IPV4_EXT_FLAGS, fields.flags());
    }

    private static void write(MemorySegment target, long at, Ipv6Match.Fields fields) {
        Paths.writeGid(target, at + FlowSpec.IPV6_SRC_IP, fields.source());
        Paths.writeGid(target, at + FlowSpec.IPV6_DST_IP, fields.destination());
        putBigEndian(target, at + FlowSpec.IPV6_FLOW_LABEL, fields.flowLabel(), Integer.BYTES);
        Native.putByte(target, at + FlowSpec.IPV6_NEXT_HDR, fields.nextHeader());
        Native.putByte(target, at + FlowSpec.IPV6_TRAFFIC_CLASS, fields.trafficClass());
        Native.putByte(target, at + FlowSpec.IPV6_HOP_LIMIT, fields.hopLimit());
    }

    private static void write(MemorySegment target, long at, PortMatch.Fields fields) {
        putBigEndian(target, at + FlowSpec.PORTS_DST_PORT, fields.destination(), Short.BYTES);
        putBigEndian(target, at + FlowSpec.PORTS_SRC_PORT, fields.source(), Short.BYTES);
    }

    private static void putBigEndian(MemorySegment target, long at, long value, int bytes) {
        for (int i = 0; i < bytes; i++) {
            Native.putByte(target, at + i, (int) (value >>> (Byte.SIZE * (bytes - 1 - i))));
        }
    }
}
