// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * IPv6 addresses that are valid only together with an interface. Source: RFC 4007; for groups RFC 4291,
 * 2.7.
 */
public final class LinkScope {
    private static final int LINK = 2;

    private LinkScope() {}

    /** {@return whether this is a link-local address, or a group whose scope is the link or less} */
    public static boolean holds(Gid address) {
        return address.isLinkLocal() || (!address.isIpv4() && address.isMulticast()
                && (address.high() >>> 48 & 0xf) <= LINK);
    }

    /** {@return the address, with the interface if it needs one} */
    static InetAddress address(Gid address, int interfaceIndex) {
        if (!holds(address)) {
            return address.address();
        }
        try {
            return Inet6Address.getByAddress(null, address.bytes(), interfaceIndex);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }
}
