package io.rdma4j.verbs;

/**
 * The path to a peer's port.
 *
 * <p>C: {@code struct ibv_ah_attr} with its {@code struct ibv_global_route}. Source: IBTA 11.2.2.1.
 * RoCE needs the destination GID and the index of the local GID; the rest may stay at its default.
 *
 * @param destination the peer's GID
 * @param sourceGidIndex the local GID, by its index in the port's table
 * @param flowLabel 20 bits, for IPv6 and the choice of a path
 * @param hopLimit hops a packet may take
 * @param trafficClass the IP traffic class or type of service
 * @param destinationLid the peer's local identifier; InfiniBand only
 * @param serviceLevel the service level
 * @param sourcePathBits the low bits of the local identifier; InfiniBand only
 * @param staticRate a rate limit, 0 for none
 * @param isGlobal whether the destination GID is used; RoCE demands it
 * @param port the local port, from 1
 */
public record AddressHandleAttributes(Gid destination, int sourceGidIndex, int flowLabel,
        int hopLimit, int trafficClass, int destinationLid, int serviceLevel, int sourcePathBits,
        int staticRate, boolean isGlobal, int port) {

    /** {@return a path over port 1 from one of its GIDs, with a hop limit of 64} */
    public static AddressHandleAttributes to(Gid destination, int sourceGidIndex) {
        return new AddressHandleAttributes(destination, sourceGidIndex, 0, 64, 0, 0, 0, 0, 0, true,
                1);
    }

    /** {@return the same path with another traffic class} */
    public AddressHandleAttributes withTrafficClass(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit, value,
                destinationLid, serviceLevel, sourcePathBits, staticRate, isGlobal, port);
    }

    /** {@return the same path with another hop limit} */
    public AddressHandleAttributes withHopLimit(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, value,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRate, isGlobal,
                port);
    }

    /** {@return the same path with another flow label} */
    public AddressHandleAttributes withFlowLabel(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, value, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRate, isGlobal,
                port);
    }

    /** {@return the same path over another port} */
    public AddressHandleAttributes withPort(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRate, isGlobal,
                value);
    }

    /**
     * {@return a UDP source port that RoCEv2 packets of a flow label may use, so that routers keep the
     * packets of a flow together} C: {@code ibv_flow_label_to_udp_sport}.
     *
     * @param flowLabel 20 bits
     */
    public static int udpSourcePort(int flowLabel) {
        int low = flowLabel & 0x3fff;
        int high = flowLabel >>> 14 & 0x3f;
        return (low ^ high) | 0xc000;
    }
}
