// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.AddressScope;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/**
 * Turns what a program names into the address that it means: an IPv4 address in IPv6 form, the wildcard as a destination, a
 * link-local address without its interface.
 */
final class NamedAddress {
    /**
     * An interface that is up.
     *
     * @param addresses those that it has
     */
    record Link(String name, int index, List<InetAddress> addresses) {}

    /** With the interfaces of this machine. */
    static final NamedAddress OF_SYSTEM = new NamedAddress(NamedAddress::links);

    private final Supplier<List<Link>> links;

    /** @param links the present interfaces that are up; asked only about link-local addresses that do not name theirs */
    NamedAddress(Supplier<List<Link>> links) {
        this.links = links;
    }

    /**
     * {@return the address that a program wants to bind to}
     *
     * @throws RdmaException EINVAL for a link-local address that several interfaces have, if it does not say which
     */
    InetSocketAddress source(InetSocketAddress named) throws RdmaException {
        InetAddress address = unmapped(named.getAddress());
        if (isUnscoped(address)) {
            List<Link> owners = owners(address);
            requireOneAtMost(owners, address, "bind address");
            address = owners.isEmpty()
                    ? address
                    : AddressScope.on(address, owners.getFirst().index());
        }
        return new InetSocketAddress(address, named.getPort());
    }

    /**
     * {@return the address that a program wants to reach}
     *
     * @param own the address that the id is bound to, null if it is not
     * @throws RdmaException EINVAL for a link-local address, if it does not say its interface and several come into
     *         question, or if it is on another one than the id
     */
    InetSocketAddress destination(InetSocketAddress named, @Nullable InetAddress own)
            throws RdmaException {
        InetAddress address = unmapped(named.getAddress());
        if (address.isAnyLocalAddress()) {
            address = host(address, own);
        } else if (isUnscoped(address)) {
            address = scoped(address, own == null ? 0 : AddressScope.of(own));
        } else if (own != null
                && !AddressScope.isCompatible(AddressScope.of(own), AddressScope.of(address))) {
            throw new RdmaException(Errno.EINVAL, "resolve address", address.getHostAddress()
                    + " is on another link than " + own.getHostAddress()
                    + ", to which the id is bound");
        }
        return new InetSocketAddress(address, named.getPort());
    }

    /** Source: RFC 4291, 2.5.5.2. */
    private static InetAddress unmapped(InetAddress address) {
        try {
            // It makes an Inet4Address of such bytes.
            return address instanceof Inet4Address || AddressScope.isNeeded(address)
                    ? address
                    : InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("bytes of an address", e);
        }
    }

    /** {@return this machine, which the wildcard means as a destination} As connect(2) takes it, and Linux's librdmacm. */
    private static InetAddress host(InetAddress wildcard, @Nullable InetAddress own) {
        if (own != null && !own.isAnyLocalAddress() && own.getClass() == wildcard.getClass()) {
            return own;
        }
        return InetAddress.ofLiteral(wildcard instanceof Inet4Address ? "127.0.0.1" : "::1");
    }

    private static boolean isUnscoped(InetAddress address) {
        return AddressScope.isNeeded(address) && AddressScope.of(address) == 0;
    }

    private InetAddress scoped(InetAddress address, int scope) throws RdmaException {
        if (scope != 0) {
            return AddressScope.on(address, scope);
        }
        List<Link> possible = owners(address);
        if (possible.isEmpty()) {
            possible = withLinkLocalAddress();
        }
        requireOneAtMost(possible, address, "resolve address");
        if (possible.isEmpty()) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve address", address.getHostAddress()
                    + " is a link-local address, and no interface that is up has one");
        }
        return AddressScope.on(address, possible.getFirst().index());
    }

    private static void requireOneAtMost(List<Link> possible, InetAddress address,
            String operation) throws RdmaException {
        if (possible.size() > 1) {
            List<String> names = possible.stream().map(Link::name).toList();
            String text = address.getHostAddress();
            throw new RdmaException(Errno.EINVAL, operation, text
                    + " is a link-local address: say of which interface, as in " + text + '%'
                    + names.getFirst() + "; there are " + String.join(", ", names));
        }
    }

    /** {@return the interfaces that have a link-local address} */
    private List<Link> owners(InetAddress address) {
        return links.get().stream().filter(each -> each.addresses.stream()
                .anyMatch(own -> AddressScope.isSame(own, address))).toList();
    }

    private List<Link> withLinkLocalAddress() {
        return links.get().stream()
                .filter(each -> each.addresses.stream().anyMatch(AddressScope::isNeeded)).toList();
    }

    private static List<Link> links() {
        List<Link> up = new ArrayList<>();
        try {
            for (NetworkInterface each : Collections
                    .list(NetworkInterface.getNetworkInterfaces())) {
                if (each.isUp()) {
                    up.add(new Link(each.getName(), each.getIndex(),
                            each.inetAddresses().toList()));
                }
            }
        } catch (SocketException unknown) {
            // Then none can be chosen.
        }
        return up;
    }
}
