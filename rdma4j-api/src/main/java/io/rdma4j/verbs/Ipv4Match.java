// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.net.Inet4Address;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * What an IPv4 header must have in it.
 *
 * <p>C: {@code struct ibv_flow_spec_ipv4_ext}, {@index IBV_FLOW_SPEC_IPV4_EXT}; where only addresses are looked at,
 * {@code struct ibv_flow_spec_ipv4}, {@index IBV_FLOW_SPEC_IPV4}, which more devices have.
 *
 * @param value what must be there ({@code val})
 * @param mask which bits are looked at ({@code mask})
 * @since 0.1.0
 */
@Experimental
public record Ipv4Match(Fields value, Fields mask) implements FlowMatch {
    /** Any IPv4 header, to begin with. */
    public static final Ipv4Match ANY = new Ipv4Match(Fields.NONE, Fields.NONE);

    /** Checks that both are there. */
    public Ipv4Match {
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(mask, "mask");
    }

    /**
     * The fields of the header.
     *
     * <p>C: {@code struct} {@index ibv_flow_ipv4_ext_filter}.
     *
     * @param source the address the packet comes from ({@index src_ip of struct ibv_flow_ipv4_ext_filter})
     * @param destination the address the packet goes to ({@index dst_ip of struct ibv_flow_ipv4_ext_filter})
     * @param protocol what the packet carries, 8 bits ({@index proto of struct ibv_flow_ipv4_ext_filter})
     * @param typeOfService 8 bits ({@index tos of struct ibv_flow_ipv4_ext_filter})
     * @param timeToLive 8 bits ({@index ttl of struct ibv_flow_ipv4_ext_filter})
     * @param flags of fragments, 8 bits ({@index flags of struct ibv_flow_ipv4_ext_filter})
     */
    @Experimental
    public record Fields(int source, int destination, int protocol, int typeOfService,
            int timeToLive, int flags) {
        private static final Fields NONE = new Fields(0, 0, 0, 0, 0, 0);

        /** Checks that each value fits its field. */
        public Fields {
            Ranges.check("proto", protocol, 0xff);
            Ranges.check("tos", typeOfService, 0xff);
            Ranges.check("ttl", timeToLive, 0xff);
            Ranges.check("flags", flags, 0xff);
        }

        private Fields withSource(int address) {
            return new Fields(address, destination, protocol, typeOfService, timeToLive, flags);
        }

        private Fields withDestination(int address) {
            return new Fields(source, address, protocol, typeOfService, timeToLive, flags);
        }

        private Fields withProtocol(int number) {
            return new Fields(source, destination, number, typeOfService, timeToLive, flags);
        }
    }

    @Override
    public int layer() {
        return 3;
    }

    /** {@return whether fields beside the addresses are looked at} */
    public boolean isBeyondAddresses() {
        return (mask.protocol | mask.typeOfService | mask.timeToLive | mask.flags) != 0;
    }

    /**
     * {@return the same for packets from an address}
     *
     * @param address of a host, or with a shorter prefix of a network
     */
    public Ipv4Match withSource(Inet4Address address) {
        return withSource(address, Integer.SIZE);
    }

    /**
     * {@return the same for packets from addresses that begin with the same bits, 0 to 32}
     *
     * @param address of a host, or with a shorter prefix of a network
     * @param prefixLength how many leading bits count, 0 to 32
     */
    public Ipv4Match withSource(Inet4Address address, int prefixLength) {
        return new Ipv4Match(value.withSource(number(address)),
                mask.withSource(prefix(prefixLength)));
    }

    /**
     * {@return the same for packets to an address}
     *
     * @param address of a host, or with a shorter prefix of a network
     */
    public Ipv4Match withDestination(Inet4Address address) {
        return withDestination(address, Integer.SIZE);
    }

    /**
     * {@return the same for packets to addresses that begin with the same bits, 0 to 32}
     *
     * @param address of a host, or with a shorter prefix of a network
     * @param prefixLength how many leading bits count, 0 to 32
     */
    public Ipv4Match withDestination(Inet4Address address, int prefixLength) {
        return new Ipv4Match(value.withDestination(number(address)),
                mask.withDestination(prefix(prefixLength)));
    }

    /**
     * {@return the same for packets that carry a protocol}
     *
     * @param protocol as IANA numbers it, such as 17 for UDP
     */
    public Ipv4Match withProtocol(int protocol) {
        return new Ipv4Match(value.withProtocol(protocol), mask.withProtocol(0xff));
    }

    private static int number(Inet4Address address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    private static int prefix(int length) {
        Ranges.check("the prefix length", length, Integer.SIZE);
        return (int) (Ranges.prefix(length, 0) >>> Integer.SIZE);
    }
}
