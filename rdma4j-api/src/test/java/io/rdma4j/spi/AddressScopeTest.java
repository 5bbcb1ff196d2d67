// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import org.junit.jupiter.api.Test;

import java.net.Inet6Address;
import java.net.InetAddress;

import static org.assertj.core.api.Assertions.assertThat;

class AddressScopeTest {
    private static final InetAddress LINK_LOCAL = InetAddress.ofLiteral("fe80::1");
    private static final InetAddress GLOBAL = InetAddress.ofLiteral("2001:db8::1");
    private static final InetAddress IPV4 = InetAddress.ofLiteral("169.254.1.1");

    @Test
    void linkLocalAddressesOfTwoInterfacesDiffer() {
        InetAddress first = AddressScope.on(LINK_LOCAL, 1);
        InetAddress second = AddressScope.on(LINK_LOCAL, 2);
        assertThat(first).as("to Java they are equal").isEqualTo(second);
        assertThat(AddressScope.isSame(first, second)).isFalse();
        assertThat(AddressScope.isSame(first, AddressScope.on(LINK_LOCAL, 1))).isTrue();
        assertThat(AddressScope.of(second)).isEqualTo(2);
    }

    @Test
    void linkLocalAddressWithoutAnInterfaceIsThatOfAny() {
        assertThat(AddressScope.isSame(LINK_LOCAL, AddressScope.on(LINK_LOCAL, 7))).isTrue();
        assertThat(AddressScope.isSame(LINK_LOCAL, InetAddress.ofLiteral("fe80::2"))).isFalse();
    }

    @Test
    void groupOfALinkIsThatOfTheInterfaceThatItNames() throws Exception {
        byte[] ofLink = InetAddress.ofLiteral("ff02::5").getAddress();
        byte[] ofSite = InetAddress.ofLiteral("ff05::5").getAddress();
        assertThat(AddressScope.of(Inet6Address.getByAddress(null, ofLink, 3))).isEqualTo(3);
        assertThat(AddressScope.of(Inet6Address.getByAddress(null, ofSite, 3))).isZero();
    }

    @Test
    void otherAddressesBelongToNoInterface() {
        assertThat(AddressScope.on(GLOBAL, 3)).isSameAs(GLOBAL);
        assertThat(AddressScope.on(IPV4, 3)).isSameAs(IPV4);
        assertThat(AddressScope.of(GLOBAL)).isZero();
        assertThat(AddressScope.isNeeded(IPV4)).isFalse();
    }
}
