// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.AddressScope;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import static org.assertj.core.api.Assertions.assertThat;

/** For how long another device than the best one is taken for a destination. */
class FallbacksTest {
    private static final InetAddress HOST = InetAddress.ofLiteral("203.0.113.9");
    private static final InetSocketAddress SERVER = new InetSocketAddress(HOST, 7174);
    private static final InetSocketAddress OTHER_PORT = new InetSocketAddress(HOST, 7175);

    private long nowNs = Long.MAX_VALUE - 5;
    private final Fallbacks fallbacks = new Fallbacks(() -> nowNs);

    private String towards(InetSocketAddress destination) {
        return String.valueOf(fallbacks.towards(PortSpace.TCP, destination));
    }

    private void add() {
        fallbacks.add(PortSpace.TCP, SERVER, "roce0", "iwarp0");
    }

    @Test
    void destinationIsRememberedForThirtySeconds() {
        assertThat(towards(SERVER)).isEqualTo("null");
        add();
        assertThat(towards(SERVER)).isEqualTo("iwarp0");
        nowNs += 30_000_000_000L - 1;
        assertThat(towards(SERVER)).isEqualTo("iwarp0");
        nowNs++;
        assertThat(towards(SERVER)).isEqualTo("null");
    }

    @Test
    void usingItMakesTheTimeNoLonger() {
        add();
        nowNs += 20_000_000_000L;
        fallbacks.onFound(PortSpace.TCP, SERVER, "iwarp0");
        assertThat(towards(SERVER)).isEqualTo("iwarp0");
        nowNs += 10_000_000_000L;
        assertThat(towards(SERVER)).isEqualTo("null");
    }

    @Test
    void otherPortsAndOtherPortSpacesAreOtherDestinations() {
        add();
        assertThat(towards(OTHER_PORT)).isEqualTo("null");
        assertThat(fallbacks.towards(PortSpace.UDP, SERVER)).isNull();
    }

    @Test
    void linkLocalAddressOfAnotherLinkIsAnotherDestination() {
        InetAddress host = InetAddress.ofLiteral("fe80::b");
        InetSocketAddress here = new InetSocketAddress(AddressScope.on(host, 2), 7174);
        fallbacks.add(PortSpace.TCP, here, "roce0", "iwarp0");
        assertThat(towards(here)).isEqualTo("iwarp0");
        assertThat(towards(new InetSocketAddress(AddressScope.on(host, 3), 7174)))
                .isEqualTo("null");
    }

    @Test
    void itIsOverOnceTheOtherDeviceFailsAsWell() {
        add();
        fallbacks.onNotFound(PortSpace.TCP, SERVER, "roce0");
        fallbacks.onNotFound(PortSpace.TCP, OTHER_PORT, "iwarp0");
        assertThat(towards(SERVER)).isEqualTo("iwarp0");
        fallbacks.onNotFound(PortSpace.TCP, SERVER, "iwarp0");
        assertThat(towards(SERVER)).isEqualTo("null");
    }

    @Test
    void itIsOverOnceTheBestDeviceHasConnected() {
        add();
        fallbacks.onFound(PortSpace.TCP, OTHER_PORT, "roce0");
        assertThat(towards(SERVER)).isEqualTo("iwarp0");
        fallbacks.onFound(PortSpace.TCP, SERVER, "roce0");
        assertThat(towards(SERVER)).isEqualTo("null");
    }

    @Test
    void manyDestinationsAreNotRememberedForEver() {
        for (int port = 1; port <= Fallbacks.MOST; port++) {
            fallbacks.add(PortSpace.TCP, new InetSocketAddress(HOST, port), "roce0", "iwarp0");
        }
        add();
        assertThat(towards(SERVER)).isEqualTo("null");
        nowNs += Fallbacks.LASTING.toNanos();
        add();
        assertThat(towards(SERVER)).isEqualTo("iwarp0");
        assertThat(towards(new InetSocketAddress(HOST, 1))).isEqualTo("null");
    }
}
