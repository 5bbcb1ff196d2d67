// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.verbs.Mtu;

/**
 * How long the IP packets of a path MTU become, which depends on the IP version.
 *
 * <p>Source: IBTA annex A17 (IP, UDP, base transport header, extended headers, payload, ICRC); RFC 791, RFC 8200.
 */
public final class PacketLength {
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int UDP_HEADER = 8;
    /** Of a WRITE with immediate of one packet: no other packet with a full payload has longer ones. */
    private static final int LONGEST_HEADERS = longestHeaders();

    private PacketLength() {}

    private static int longestHeaders() {
        int longest = 0;
        for (Opcode opcode : Opcode.values()) {
            boolean carriesPathMtu = switch (opcode.kind()) {
                case SEND, WRITE, READ_RESPONSE -> true;
                case READ_REQUEST, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD, FLUSH,
                        ATOMIC_WRITE, CONGESTION_NOTIFICATION ->
                    false;
            };
            if (carriesPathMtu) {
                longest = Math.max(longest, opcode.headerLength());
            }
        }
        return longest;
    }

    /** {@return the bytes around the payload of the longest packet} */
    private static int around(boolean isIpv4) {
        return (isIpv4 ? IPV4_HEADER : IPV6_HEADER) + UDP_HEADER + LONGEST_HEADERS
                + PacketView.ICRC_LENGTH;
    }

    /** {@return the bytes of the longest IP packet of a path MTU} */
    public static int longest(Mtu pathMtu, boolean isIpv4) {
        return pathMtu.bytes() + around(isIpv4);
    }

    /**
     * {@return the largest path MTU whose packets are not longer than a link allows, the smallest there is if none is short
     * enough}
     *
     * @param linkBytes the bytes of the longest IP packet that passes
     */
    public static Mtu largestMtu(int linkBytes, boolean isIpv4) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu mtu : Mtu.values()) {
            if (longest(mtu, isIpv4) <= linkBytes) {
                largest = mtu;
            }
        }
        return largest;
    }
}
