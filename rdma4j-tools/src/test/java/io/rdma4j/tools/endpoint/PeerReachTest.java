// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Which GIDs are refused, and what is said: of this side, of the peer, on one host, on a link, behind a router. */
class PeerReachTest {
    private static final InetAddress LOCAL = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress REMOTE = InetAddress.ofLiteral("10.0.0.2");
    private static final Gid OWN = Gid.of(LOCAL);
    private static final Gid LINK_LOCAL = gid("fe80::7");

    /** Its address is {@link #LOCAL} alone; what is far is behind a router. */
    private record Fake(Set<InetAddress> far) implements PeerReach.Host {
        @Override
        public boolean isOwn(InetAddress address) {
            return address.equals(LOCAL);
        }

        @Override
        public boolean isRouted(InetAddress local, InetAddress remote, Gid gid) {
            return far.contains(remote);
        }
    }

    private static Gid gid(String address) {
        return Gid.of(InetAddress.ofLiteral(address));
    }

    private static PeerReach near(InetAddress remote) {
        return new PeerReach(LOCAL, remote, "-x", new Fake(Set.of()));
    }

    private static PeerReach far() {
        return new PeerReach(LOCAL, REMOTE, "-x", new Fake(Set.of(REMOTE)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.2", "10.9.9.9", "fd00::2", "fe80::2"})
    void whatMayBeReachedPasses(String peer) {
        assertThatCode(() -> near(REMOTE).requirePeer(OWN, gid(peer))).doesNotThrowAnyException();
        assertThatCode(() -> near(REMOTE).requireOwn(gid(peer))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.2", "::1"})
    void loopbackLeadsToNoOtherHost(String loopback) {
        assertThatThrownBy(() -> near(REMOTE).requirePeer(OWN, gid(loopback)))
                .hasMessageStartingWith("the peer's GID ")
                .hasMessageContainingAll("loopback address", "this host itself",
                        "start the peer with -d and -x of its address 10.0.0.2", "show_gids")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> near(REMOTE).requireOwn(gid(loopback)))
                .hasMessageStartingWith("this side's GID ")
                .hasMessageContainingAll("which 10.0.0.2 cannot reach",
                        "start this side without -d and -x, or with those of 10.0.0.1");
    }

    /** Whatever addresses its sides take. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "10.0.0.1"})
    void loopbackLeadsToThisHost(String remote) {
        PeerReach reach = near(InetAddress.ofLiteral(remote));
        assertThatCode(() -> reach.requirePeer(OWN, gid("127.0.0.1"))).doesNotThrowAnyException();
        assertThatCode(() -> reach.requireOwn(gid("127.0.0.1"))).doesNotThrowAnyException();
    }

    @Test
    void peerWithoutAGidIsToldTheOption() {
        assertThatThrownBy(() -> near(REMOTE).requirePeer(OWN, Gid.ZERO)).hasMessage(
                "the peer told no GID, which RoCE needs; start it with -x of its address 10.0.0.2"
                        + " (show_gids lists them)");
    }

    @ParameterizedTest
    @CsvSource({"224.0.0.1", "ff02::1", "0.0.0.0"})
    void whatIsNoHostIsRefused(String peer) {
        assertThatThrownBy(() -> near(REMOTE).requirePeer(OWN, gid(peer)))
                .hasMessageContaining("is the address of no host");
    }

    @Test
    void linkLocalAddressesEndAtARouter() {
        assertThatThrownBy(() -> far().requirePeer(gid("fe80::1"), LINK_LOCAL))
                .hasMessageContainingAll("the peer's GID fe80::7 is link-local",
                        "the peer is behind a router", "start the peer with");
        assertThatThrownBy(() -> far().requireOwn(LINK_LOCAL)).hasMessageContainingAll(
                "this side's GID fe80::7 is link-local", "10.0.0.2 is behind a router",
                "start this side without -x");
        assertThatCode(() -> far().requirePeer(OWN, gid("10.0.0.2"))).doesNotThrowAnyException();
    }
}
