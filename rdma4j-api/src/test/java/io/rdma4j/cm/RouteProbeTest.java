// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.AddressScope;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;

import static org.assertj.core.api.Assertions.assertThat;

class RouteProbeTest {
    private static final InetAddress OWN = InetAddress.ofLiteral("fe80::a");
    private static final InetAddress PEER = InetAddress.ofLiteral("fe80::b");

    private static boolean covers(String own, int bits, String destination) {
        return RouteProbe.covers(InetAddress.ofLiteral(own), bits,
                InetAddress.ofLiteral(destination));
    }

    private static RdmaException refusal(Exception cause) {
        return RouteProbe.refusal(null, InetAddress.ofLiteral("192.0.2.1"), false, cause);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Network is unreachable", "No route to host", "Permission denied",
        "Invalid argument", "Network is down", "Cannot assign requested address"})
    void missingRouteIsThatWhateverTheSystemCallsIt(String words) {
        assertThat(refusal(new SocketException(words)))
                .hasMessage("resolve address: there is no route to 192.0.2.1 (ENETUNREACH)");
    }

    @Test
    void otherErrorIsToldAsItIs() {
        assertThat(refusal(new SocketException("Too many open files")))
                .hasMessage("resolve address: the system does not say which route leads to"
                        + " 192.0.2.1: Too many open files (EMFILE)")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EMFILE));
        assertThat(refusal(new SocketException("Operation not permitted")).errno())
                .isEqualTo(Errno.EPERM);
        assertThat(refusal(new NoRouteToHostException("Keine Route zum Zielrechner")).errno())
                .isEqualTo(Errno.ENETUNREACH);
        assertThat(refusal(new SocketException("Das Netzwerk ist nicht erreichbar")))
                .hasMessage("resolve address: there is no route to 192.0.2.1: Das Netzwerk ist"
                        + " nicht erreichbar (ENETUNREACH)");
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
