// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * The header that carries IP addresses in front of a request's private data. Source: IBTA annex A11.4.
 *
 * @param isIpv6 the IP version of both addresses
 * @param sourcePort the requester's port
 * @param source the requester's address
 * @param destination the address it asked for
 */
record IpHeader(boolean isIpv6, int sourcePort, Gid source, Gid destination) {
    static final int LENGTH = 36;

    /** {@return the header at the start of private data, or null if it is of another version} */
    static @Nullable IpHeader decode(byte[] privateData) {
        ByteBuffer in = ByteBuffer.wrap(privateData);
        int version = in.get();
        int ipVersion = in.get() >>> 4 & 0xf;
        if (version != 0 || (ipVersion != 4 && ipVersion != 6)) {
            return null;
        }
        int port = in.getShort() & 0xffff;
        boolean isIpv6 = ipVersion == 6;
        return new IpHeader(isIpv6, port, address(in, isIpv6), address(in, isIpv6));
    }

    private static Gid address(ByteBuffer in, boolean isIpv6) {
        long high = in.getLong();
        long low = in.getLong();
        return isIpv6 ? new Gid(high, low) : new Gid(0, 0xffff_0000_0000L | (low & 0xffff_ffffL));
    }

    void encode(ByteBuffer out) {
        out.put((byte) 0).put((byte) (isIpv6 ? 0x60 : 0x40)).putShort((short) sourcePort);
        encode(out, source);
        encode(out, destination);
    }

    private void encode(ByteBuffer out, Gid address) {
        out.putLong(address.high()).putLong(isIpv6 ? address.low() : address.low() & 0xffff_ffffL);
    }
}
