// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Objects;

/**
 * What a TCP or UDP header must have in it.
 *
 * <p>C: {@code struct ibv_flow_spec_tcp_udp}.
 *
 * @param protocol whose header it is ({@code type})
 * @param value what must be there ({@code val})
 * @param mask which bits are looked at ({@code mask})
 * @since 0.1.0
 */
@Experimental
public record PortMatch(Protocol protocol, Fields value, Fields mask) implements FlowMatch {
    /** Any TCP header, to begin with. */
    public static final PortMatch TCP = new PortMatch(Protocol.TCP, Fields.NONE, Fields.NONE);
    /** Any UDP header, to begin with. */
    public static final PortMatch UDP = new PortMatch(Protocol.UDP, Fields.NONE, Fields.NONE);

    private static final int PORT = 0xffff;

    /** Checks that all are there. */
    public PortMatch {
        Objects.requireNonNull(protocol, "protocol");
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(mask, "mask");
    }

    /**
     * Which of the protocols that have ports.
     *
     * <p>C: of {@code enum} {@index ibv_flow_spec_type}.
     */
    @Experimental
    public enum Protocol {
        /** C: {@index IBV_FLOW_SPEC_TCP}. */
        TCP,
        /** C: {@index IBV_FLOW_SPEC_UDP}. */
        UDP
    }

    /**
     * The fields of the header.
     *
     * <p>C: {@code struct} {@index ibv_flow_tcp_udp_filter}.
     *
     * @param destination the port the packet goes to ({@index dst_port of struct ibv_flow_tcp_udp_filter})
     * @param source the port the packet comes from ({@index src_port of struct ibv_flow_tcp_udp_filter})
     */
    @Experimental
    public record Fields(int destination, int source) {
        private static final Fields NONE = new Fields(0, 0);

        /** Checks that each value fits its field. */
        public Fields {
            Ranges.check("dst_port", destination, PORT);
            Ranges.check("src_port", source, PORT);
        }
    }

    @Override
    public int layer() {
        return 4;
    }

    /**
     * {@return the same for packets to a port}
     *
     * @param port of UDP or TCP
     */
    public PortMatch withDestination(int port) {
        return new PortMatch(protocol, new Fields(port, value.source),
                new Fields(PORT, mask.source));
    }

    /**
     * {@return the same for packets from a port}
     *
     * @param port of UDP or TCP
     */
    public PortMatch withSource(int port) {
        return new PortMatch(protocol, new Fields(value.destination, port),
                new Fields(mask.destination, PORT));
    }
}
