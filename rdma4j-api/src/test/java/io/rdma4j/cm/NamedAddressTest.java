// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.cm.NamedAddress.Link;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What programs name, and what they mean by it on machines with some interfaces. */
class NamedAddressTest {
    private static final InetAddress OWN = InetAddress.ofLiteral("fe80::a");
    private static final InetAddress PEER = InetAddress.ofLiteral("fe80::b");
    private static final InetAddress GLOBAL = InetAddress.ofLiteral("10.1.2.3");
    private static final Link LOOPBACK = new Link("lo", 1,
            List.of(InetAddress.ofLiteral("127.0.0.1"), InetAddress.ofLiteral("::1")));
    private static final Link FIRST = link("eth0", 2);
    private static final Link SECOND = link("eth1", 3);

    /** Two interfaces with one MAC address have the same link-local one. */
    private static Link link(String name, int index) {
        return new Link(name, index, List.of(AddressScope.on(OWN, index)));
    }

    private static InetAddress destination(String named, @Nullable InetAddress own, Link... links)
            throws RdmaException {
        return destination(InetAddress.ofLiteral(named), own, links);
    }

    private static InetAddress destination(InetAddress named, @Nullable InetAddress own,
            Link... links) throws RdmaException {
        InetSocketAddress meant = new NamedAddress(() -> List.of(links))
                .destination(new InetSocketAddress(named, 7), own);
        assertThat(meant.getPort()).isEqualTo(7);
        return meant.getAddress();
    }

    private static InetAddress source(InetAddress named, Link... links) throws RdmaException {
        return new NamedAddress(() -> List.of(links)).source(new InetSocketAddress(named, 0))
                .getAddress();
    }

    @Test
    void wildcardAsADestinationIsThisMachine() throws Exception {
        assertThat(destination("0.0.0.0", null)).isEqualTo(InetAddress.ofLiteral("127.0.0.1"));
        assertThat(destination("::", null)).isEqualTo(InetAddress.ofLiteral("::1"));
        assertThat(destination("0.0.0.0", GLOBAL)).isEqualTo(GLOBAL);
        assertThat(destination("0.0.0.0", InetAddress.ofLiteral("0.0.0.0")))
                .isEqualTo(InetAddress.ofLiteral("127.0.0.1"));
        assertThat(destination("::", GLOBAL)).as("of its own IP version")
                .isEqualTo(InetAddress.ofLiteral("::1"));
    }

    @Test
    void ipv4AddressInIpv6FormIsThatIpv4Address() throws Exception {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 1, 2, 3};
        InetAddress named = Inet6Address.getByAddress(null, mapped, -1);
        assertThat(named).isInstanceOf(Inet6Address.class);
        assertThat(destination(named, null)).isInstanceOf(Inet4Address.class).isEqualTo(GLOBAL);
        assertThat(source(named)).isInstanceOf(Inet4Address.class).isEqualTo(GLOBAL);
    }

    @Test
    void linkLocalAddressBelongsToTheOnlyInterfaceThatComesIntoQuestion() throws Exception {
        assertThat(AddressScope.of(destination(PEER, null, LOOPBACK, FIRST))).isEqualTo(2);
        assertThat(AddressScope.of(destination(PEER, null, LOOPBACK, SECOND))).isEqualTo(3);
        assertThat(AddressScope.of(source(OWN, LOOPBACK, SECOND))).isEqualTo(3);
        Link other = new Link("eth2", 4, List.of(AddressScope.on(PEER, 4)));
        assertThat(AddressScope.of(destination(PEER, null, FIRST, SECOND, other)))
                .as("one of its own addresses").isEqualTo(4);
    }

    @Test
    void linkLocalAddressThatSaysItsInterfaceKeepsIt() throws Exception {
        InetAddress named = AddressScope.on(PEER, 3);
        assertThat(destination(named, null, FIRST, SECOND)).isSameAs(named);
        assertThat(source(AddressScope.on(OWN, 3), FIRST, SECOND))
                .satisfies(each -> assertThat(AddressScope.of(each)).isEqualTo(3));
    }

    @Test
    void linkLocalDestinationOfABoundIdIsOnItsLink() throws Exception {
        InetAddress bound = AddressScope.on(OWN, 3);
        assertThat(AddressScope.of(destination(PEER, bound, FIRST, SECOND))).isEqualTo(3);
        assertRefused(() -> destination(AddressScope.on(PEER, 2), bound, FIRST, SECOND),
                Errno.EINVAL, "fe80:0:0:0:0:0:0:b%2", "another link", "fe80:0:0:0:0:0:0:a%3");
    }

    @Test
    void linkLocalAddressThatMayBeOfSeveralInterfacesIsRefused() {
        String[] words = {"fe80:0:0:0:0:0:0:b%eth0", "eth0, eth1"};
        assertRefused(() -> destination(PEER, null, LOOPBACK, FIRST, SECOND), Errno.EINVAL, words);
        assertRefused(() -> source(OWN, LOOPBACK, FIRST, SECOND), Errno.EINVAL, "eth0, eth1");
    }

    @Test
    void linkLocalDestinationWithoutAnyLinkIsRefused() throws Exception {
        assertRefused(() -> destination(PEER, null, LOOPBACK), Errno.ENETUNREACH, "link-local");
        assertThat(source(OWN, LOOPBACK)).as("binding will say that nobody has it").isEqualTo(OWN);
    }

    /** Something that may be refused. */
    private interface Attempt {
        void run() throws RdmaException;
    }

    private static void assertRefused(Attempt attempt, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(attempt::run)
                .withMessageContainingAll(words)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }
}
