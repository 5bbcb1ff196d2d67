// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Objects;

/**
 * The path to a peer's port.
 *
 * <p>C: {@code struct} {@index ibv_ah_attr} with its {@code struct} {@index ibv_global_route}. Source: IBTA 11.2.2.1.
 * RoCE needs the destination GID and the index of the local GID; the rest may stay at its default. A value
 * that its field cannot hold is an {@link IllegalArgumentException} at once; whether there is such an entry
 * or port is for the device to say.
 *
 * @param destination the peer's GID ({@code grh.}{@index dgid of struct ibv_global_route})
 * @param sourceGidIndex the local GID, by its index in the port's table
 *        ({@index grh of struct ibv_ah_attr}{@code .}{@index sgid_index of struct ibv_global_route})
 * @param flowLabel 20 bits, for IPv6 and the choice of a path ({@code grh.}{@index flow_label of struct ibv_global_route})
 * @param hopLimit hops a packet may take, 0 to 255; 0 leaves it to the device
 *        ({@code grh.}{@index hop_limit of struct ibv_global_route})
 * @param trafficClass the IP traffic class or type of service, 0 to 255
 *        ({@code grh.}{@index traffic_class of struct ibv_global_route})
 * @param destinationLid the peer's local identifier, 16 bits; InfiniBand only ({@index dlid of struct ibv_ah_attr})
 * @param serviceLevel the service level, 0 to 15; RoCE over UDP does not carry it ({@index sl of struct ibv_ah_attr})
 * @param sourcePathBits the low bits of the local identifier, 0 to 127; InfiniBand only
 *        ({@index src_path_bits of struct ibv_ah_attr})
 * @param staticRateCode a rate limit as {@code enum} {@index ibv_rate} numbers them, 0 for none; a hint
 *        ({@index static_rate of struct ibv_ah_attr})
 * @param isGlobal whether the destination GID is used; RoCE demands it ({@index is_global of struct ibv_ah_attr})
 * @param port the local port, from 1 ({@index port_num of struct ibv_ah_attr})
 * @since 0.1.0
 */
public record AddressHandleAttributes(Gid destination, int sourceGidIndex, int flowLabel,
        int hopLimit, int trafficClass, int destinationLid, int serviceLevel, int sourcePathBits,
        int staticRateCode, boolean isGlobal, int port) {

    /** Checks that each value fits its field. */
    public AddressHandleAttributes {
        Objects.requireNonNull(destination, "destination");
        checkRange("flow_label", flowLabel, 0xf_ffff);
        checkRange("hop_limit", hopLimit, 0xff);
        checkRange("traffic_class", trafficClass, 0xff);
        checkRange("dlid", destinationLid, 0xffff);
        checkRange("sl", serviceLevel, 0xf);
        checkRange("src_path_bits", sourcePathBits, 0x7f);
        checkRange("static_rate", staticRateCode, 0xff);
    }

    private static void checkRange(String field, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(
                    field + " must be from 0 to " + most + ", not " + value);
        }
    }

    /**
     * {@return a path over port 1 from one of its GIDs, with a hop limit of 64}
     *
     * @param destination a GID of the receiver, or of a group
     * @param sourceGidIndex the place of this side's GID in the table of its port
     */
    public static AddressHandleAttributes to(Gid destination, int sourceGidIndex) {
        return new AddressHandleAttributes(destination, sourceGidIndex, 0, 64, 0, 0, 0, 0, 0, true,
                1);
    }

    /** {@return the same path to another GID} */
    public AddressHandleAttributes withDestination(Gid value) {
        return new AddressHandleAttributes(value, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRateCode,
                isGlobal,
                port);
    }

    /** {@return the same path from another local GID} */
    public AddressHandleAttributes withSourceGidIndex(int value) {
        return new AddressHandleAttributes(destination, value, flowLabel, hopLimit, trafficClass,
                destinationLid, serviceLevel, sourcePathBits, staticRateCode, isGlobal, port);
    }

    /** {@return the same path with another flow label} */
    public AddressHandleAttributes withFlowLabel(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, value, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRateCode,
                isGlobal,
                port);
    }

    /** {@return the same path with another hop limit} */
    public AddressHandleAttributes withHopLimit(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, value,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRateCode,
                isGlobal,
                port);
    }

    /** {@return the same path with another traffic class} */
    public AddressHandleAttributes withTrafficClass(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit, value,
                destinationLid, serviceLevel, sourcePathBits, staticRateCode, isGlobal, port);
    }

    /** {@return the same path to another local identifier} */
    public AddressHandleAttributes withDestinationLid(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, value, serviceLevel, sourcePathBits, staticRateCode, isGlobal, port);
    }

    /** {@return the same path with another service level} */
    public AddressHandleAttributes withServiceLevel(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, value, sourcePathBits, staticRateCode, isGlobal,
                port);
    }

    /** {@return the same path from another of the local identifiers} */
    public AddressHandleAttributes withSourcePathBits(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, serviceLevel, value, staticRateCode, isGlobal, port);
    }

    /** {@return the same path with another rate limit} */
    public AddressHandleAttributes withStaticRateCode(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, value, isGlobal, port);
    }

    /** {@return the same path with or without the destination GID} */
    public AddressHandleAttributes withGlobal(boolean value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRateCode, value,
                port);
    }

    /** {@return the same path over another port} */
    public AddressHandleAttributes withPort(int value) {
        return new AddressHandleAttributes(destination, sourceGidIndex, flowLabel, hopLimit,
                trafficClass, destinationLid, serviceLevel, sourcePathBits, staticRateCode,
                isGlobal,
                value);
    }

    /**
     * {@return a UDP source port that RoCEv2 packets of a flow label may use, so that routers keep the
     * packets of a flow together} C: {@index ibv_flow_label_to_udp_sport}.
     *
     * @param flowLabel 20 bits
     */
    public static int udpSourcePort(int flowLabel) {
        int low = flowLabel & 0x3fff;
        int high = flowLabel >>> 14 & 0x3f;
        return (low ^ high) | 0xc000;
    }
}
