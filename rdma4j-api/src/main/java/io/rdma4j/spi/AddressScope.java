// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * The network interface that a link-local IPv6 address belongs to. Such an address means something only together with its
 * interface: two interfaces with one MAC address have the same one. {@link InetAddress#equals} does not look at it. Source:
 * RFC 4007.
 */
public final class AddressScope {
    private AddressScope() {}

    /** {@return whether an address is valid only together with an interface} */
    public static boolean isNeeded(InetAddress address) {
        return address instanceof Inet6Address && address.isLinkLocalAddress();
    }

    /** {@return whether an address, or a group, means something only on one link} */
    public static boolean isOfLink(InetAddress address) {
        return isNeeded(address)
                || (address instanceof Inet6Address && address.isMCLinkLocal());
    }

    /**
     * {@return the index of the interface of a link-local address or a group of a link, 0 if the address does not say it or
     * needs none}
     */
    public static int of(InetAddress address) {
        return address instanceof Inet6Address ofLink && isOfLink(address)
                ? ofLink.getScopeId()
                : 0;
    }

    /** {@return whether two addresses are the same} A link-local one that names no interface is taken for that of any. */
    public static boolean isSame(InetAddress a, InetAddress b) {
        return Arrays.equals(a.getAddress(), b.getAddress()) && isCompatible(of(a), of(b));
    }

    /** {@return whether two interfaces can be the same, where 0 is not known} */
    public static boolean isCompatible(int scope, int other) {
        return scope == 0 || other == 0 || scope == other;
    }

    /** {@return an address as one of an interface; it changes only if it is link-local} */
    public static InetAddress on(InetAddress address, NetworkInterface networkInterface) {
        if (!isNeeded(address)) {
            return address;
        }
        try {
            return Inet6Address.getByAddress(null, address.getAddress(), networkInterface);
        } catch (UnknownHostException hasNoLinkLocalAddress) {
            return on(address, networkInterface.getIndex());
        }
    }

    /** {@return an address as one of an interface; it changes only if it is link-local} */
    public static InetAddress on(InetAddress address, int interfaceIndex) {
        if (!isNeeded(address)) {
            return address;
        }
        try {
            return Inet6Address.getByAddress(null, address.getAddress(), interfaceIndex);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }
}
