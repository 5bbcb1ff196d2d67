// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.net.Inet6Address;
import java.util.Objects;

/**
 * What an IPv6 header must have in it.
 *
 * <p>C: {@code struct ibv_flow_spec_ipv6}, {@index IBV_FLOW_SPEC_IPV6}.
 *
 * @param value what must be there ({@code val})
 * @param mask which bits are looked at ({@code mask})
 * @since 0.1.0
 */
@Experimental
public record Ipv6Match(Fields value, Fields mask) implements FlowMatch {
    /** Any IPv6 header, to begin with. */
    public static final Ipv6Match ANY = new Ipv6Match(Fields.NONE, Fields.NONE);

    private static final int ADDRESS_BITS = 128;

    /** Checks that both are there. */
    public Ipv6Match {
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(mask, "mask");
    }

    /**
     * The fields of the header.
     *
     * <p>C: {@code struct} {@index ibv_flow_ipv6_filter}.
     *
     * @param source the address the packet comes from, as a GID ({@index src_ip of struct ibv_flow_ipv6_filter})
     * @param destination the address the packet goes to, as a GID ({@index dst_ip of struct ibv_flow_ipv6_filter})
     * @param flowLabel 20 bits ({@index flow_label of struct ibv_flow_ipv6_filter})
     * @param nextHeader what the packet carries, 8 bits ({@index next_hdr of struct ibv_flow_ipv6_filter})
     * @param trafficClass 8 bits ({@index traffic_class of struct ibv_flow_ipv6_filter})
     * @param hopLimit 8 bits ({@index hop_limit of struct ibv_flow_ipv6_filter})
     */
    @Experimental
    public record Fields(Gid source, Gid destination, int flowLabel, int nextHeader,
            int trafficClass, int hopLimit) {
        private static final Fields NONE = new Fields(Gid.ZERO, Gid.ZERO, 0, 0, 0, 0);

        /** Checks that each value fits its field. */
        public Fields {
            Objects.requireNonNull(source, "source");
            Objects.requireNonNull(destination, "destination");
            Ranges.check("flow_label", flowLabel, 0xf_ffff);
            Ranges.check("next_hdr", nextHeader, 0xff);
            Ranges.check("traffic_class", trafficClass, 0xff);
            Ranges.check("hop_limit", hopLimit, 0xff);
        }

        private Fields withSource(Gid address) {
            return new Fields(address, destination, flowLabel, nextHeader, trafficClass, hopLimit);
        }

        private Fields withDestination(Gid address) {
            return new Fields(source, address, flowLabel, nextHeader, trafficClass, hopLimit);
        }

        private Fields withNextHeader(int number) {
            return new Fields(source, destination, flowLabel, number, trafficClass, hopLimit);
        }
    }

    @Override
    public int layer() {
        return 3;
    }

    /**
     * {@return the same for packets from an address}
     *
     * @param address of a host, or with a shorter prefix of a network
     */
    public Ipv6Match withSource(Inet6Address address) {
        return withSource(address, ADDRESS_BITS);
    }

    /**
     * {@return the same for packets from addresses that begin with the same bits, 0 to 128}
     *
     * @param address of a host, or with a shorter prefix of a network
     * @param prefixLength how many leading bits count, 0 to 128
     */
    public Ipv6Match withSource(Inet6Address address, int prefixLength) {
        return new Ipv6Match(value.withSource(Gid.of(address)),
                mask.withSource(prefix(prefixLength)));
    }

    /**
     * {@return the same for packets to an address}
     *
     * @param address of a host, or with a shorter prefix of a network
     */
    public Ipv6Match withDestination(Inet6Address address) {
        return withDestination(address, ADDRESS_BITS);
    }

    /**
     * {@return the same for packets to addresses that begin with the same bits, 0 to 128}
     *
     * @param address of a host, or with a shorter prefix of a network
     * @param prefixLength how many leading bits count, 0 to 128
     */
    public Ipv6Match withDestination(Inet6Address address, int prefixLength) {
        return new Ipv6Match(value.withDestination(Gid.of(address)),
                mask.withDestination(prefix(prefixLength)));
    }

    /**
     * {@return the same for packets whose next header is of a protocol}
     *
     * @param protocol as IANA numbers it, such as 17 for UDP
     */
    public Ipv6Match withNextHeader(int protocol) {
        return new Ipv6Match(value.withNextHeader(protocol), mask.withNextHeader(0xff));
    }

    private static Gid prefix(int length) {
        Ranges.check("the prefix length", length, ADDRESS_BITS);
        return new Gid(Ranges.prefix(length, 0), Ranges.prefix(length, Long.SIZE));
    }
}
