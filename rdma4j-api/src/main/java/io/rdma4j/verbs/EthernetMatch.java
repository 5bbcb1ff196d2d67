// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Objects;

/**
 * What an Ethernet header must have in it.
 *
 * <p>C: {@code struct} {@index ibv_flow_spec_eth}, {@index IBV_FLOW_SPEC_ETH}.
 *
 * @param value what must be there ({@index val of struct ibv_flow_spec_eth})
 * @param mask which bits are looked at ({@index mask of struct ibv_flow_spec_eth})
 * @since 0.1.0
 */
@Experimental
public record EthernetMatch(Fields value, Fields mask) implements FlowMatch {
    /** Any Ethernet header, to begin with. */
    public static final EthernetMatch ANY = new EthernetMatch(Fields.NONE, Fields.NONE);

    private static final long MAC = 0xffff_ffff_ffffL;
    private static final int VLAN_ID = 0xfff;

    /** Checks that both are there. */
    public EthernetMatch {
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(mask, "mask");
    }

    /**
     * The fields of the header.
     *
     * <p>C: {@code struct} {@index ibv_flow_eth_filter}.
     *
     * @param destination the MAC address the frame goes to, in the low 48 bits
     *        ({@index dst_mac of struct ibv_flow_eth_filter})
     * @param source the MAC address the frame comes from, in the low 48 bits
     *        ({@index src_mac of struct ibv_flow_eth_filter})
     * @param etherType what the frame carries, 16 bits ({@index ether_type of struct ibv_flow_eth_filter})
     * @param vlanTag priority (3 bits), eligibility to be dropped (1) and VLAN (12)
     *        ({@index vlan_tag of struct ibv_flow_eth_filter})
     */
    @Experimental
    public record Fields(long destination, long source, int etherType, int vlanTag) {
        private static final Fields NONE = new Fields(0, 0, 0, 0);

        /** Checks that each value fits its field. */
        public Fields {
            Ranges.check("dst_mac", destination, MAC);
            Ranges.check("src_mac", source, MAC);
            Ranges.check("ether_type", etherType, 0xffff);
            Ranges.check("vlan_tag", vlanTag, 0xffff);
        }

        private Fields withDestination(long mac) {
            return new Fields(mac, source, etherType, vlanTag);
        }

        private Fields withSource(long mac) {
            return new Fields(destination, mac, etherType, vlanTag);
        }

        private Fields withEtherType(int type) {
            return new Fields(destination, source, type, vlanTag);
        }

        private Fields withVlanTag(int tag) {
            return new Fields(destination, source, etherType, tag);
        }
    }

    @Override
    public int layer() {
        return 2;
    }

    /**
     * {@return the same for frames to one MAC address, in the low 48 bits}
     *
     * @param mac an Ethernet address
     */
    public EthernetMatch withDestination(long mac) {
        return withDestination(mac, MAC);
    }

    /**
     * {@return the same for frames to MAC addresses that agree in the bits of a mask}
     *
     * @param mac an Ethernet address
     * @param bits which of its bits count
     */
    public EthernetMatch withDestination(long mac, long bits) {
        return new EthernetMatch(value.withDestination(mac), mask.withDestination(bits));
    }

    /**
     * {@return the same for frames from one MAC address, in the low 48 bits}
     *
     * @param mac an Ethernet address
     */
    public EthernetMatch withSource(long mac) {
        return withSource(mac, MAC);
    }

    /**
     * {@return the same for frames from MAC addresses that agree in the bits of a mask}
     *
     * @param mac an Ethernet address
     * @param bits which of its bits count
     */
    public EthernetMatch withSource(long mac, long bits) {
        return new EthernetMatch(value.withSource(mac), mask.withSource(bits));
    }

    /**
     * {@return the same for frames that carry a protocol}
     *
     * @param type of Ethernet, 16 bits
     */
    public EthernetMatch withEtherType(int type) {
        return new EthernetMatch(value.withEtherType(type), mask.withEtherType(0xffff));
    }

    /**
     * {@return the same for frames of a VLAN, 12 bits}
     *
     * @param vlan 12 bits
     */
    public EthernetMatch withVlan(int vlan) {
        Ranges.check("VLAN", vlan, VLAN_ID);
        return new EthernetMatch(value.withVlanTag(vlan), mask.withVlanTag(VLAN_ID));
    }
}
