package io.rdma4j.cm;

import io.rdma4j.spi.AddressScope;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;

import static org.assertj.core.api.Assertions.assertThat;

class RouteProbeTest {
    private static final InetAddress OWN = InetAddress.ofLiteral("fe80::a");
    private static final InetAddress PEER = InetAddress.ofLiteral("fe80::b");

    private static boolean covers(String own, int bits, String destination) {
        return RouteProbe.covers(InetAddress.ofLiteral(own), bits,
                InetAddress.ofLiteral(destination));
    }

    @Test
    void subnetHasTheAddressesOfItsPrefix() {
        assertThat(covers("10.1.2.3", 22, "10.1.0.1")).isTrue();
        assertThat(covers("10.1.2.3", 22, "10.1.4.1")).isFalse();
        assertThat(covers("10.1.2.3", 0, "192.0.2.1")).isTrue();
        assertThat(covers("2001:db8::1", 64, "2001:db8::ffff:1")).isTrue();
        assertThat(covers("2001:db8::1", 64, "2001:db8:0:1::1")).isFalse();
        assertThat(covers("10.1.2.3", 0, "2001:db8::1")).isFalse();
    }

    /** Each link has all link-local addresses: the peer of one is another host on the next. */
    @Test
    void linkLocalAddressesAreOfOneSubnetOnOneLinkOnly() {
        InetAddress own = AddressScope.on(OWN, 3);
        assertThat(RouteProbe.covers(own, 64, AddressScope.on(PEER, 3))).isTrue();
        assertThat(RouteProbe.covers(own, 64, AddressScope.on(PEER, 2))).isFalse();
        assertThat(RouteProbe.covers(own, 64, PEER)).isTrue();
    }
}
