// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a header of a frame must have in it: the bits of {@code mask} as in {@code value}. A frame that lacks the header does
 * not match; a match whose mask is empty asks for nothing but the header.
 *
 * <p>C: {@code struct ibv_flow_spec}. Headers of tunnels, MPLS and ESP are not offered.
 *
 * @since 0.1.0
 */
@Experimental
public sealed interface FlowMatch permits EthernetMatch, Ipv4Match, Ipv6Match, PortMatch {
    /** {@return the layer of its header, 2 to 4; a rule has at most one match of each} */
    int layer();
}
