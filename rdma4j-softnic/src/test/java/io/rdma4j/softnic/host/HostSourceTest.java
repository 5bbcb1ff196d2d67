// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import io.rdma4j.softnic.network.linux.route.RouteSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Both sources on this machine. */
class HostSourceTest {
    /** As {@code /proc/net/if_inet6}, with the number of the interface filled in. */
    private static final String FLAGGED = "00000000000000000000000000000001 %02x 80 10 %02x       lo%n";

    @TempDir
    Path folder;

    private static HostSource linux() throws Exception {
        assumeThat(RouteSocket.obstacle()).isNull();
        return new RouteSource(RouteSocket.open());
    }

    @Test
    void linuxDescribesWhatTheJdkLists() throws Exception {
        try (HostSource linux = linux(); HostSource portable = new InterfaceSource()) {
            Host seen = linux.look();
            for (HostInterface each : portable.look().interfaces()) {
                HostInterface same = seen.named(each.name()).orElseThrow();
                assertThat(same.index()).isEqualTo(each.index());
                assertThat(same.carriesPackets()).isEqualTo(each.carriesPackets());
                assertThat(same.isLoopback()).isEqualTo(each.isLoopback());
                assertThat(same.mtu()).isEqualTo(each.mtu());
                assertThat(addresses(same)).isEqualTo(addresses(each));
            }
        }
    }

    private static Set<InetAddress> addresses(HostInterface of) {
        Set<InetAddress> addresses = new HashSet<>();
        of.addresses().forEach(each -> addresses.add(each.address()));
        return addresses;
    }

    @Test
    void linuxListsTheSameTwiceAndReportsNothingMeanwhile() throws Exception {
        try (HostSource linux = linux()) {
            Host first = linux.look();
            assertThat(linux.look()).isEqualTo(first);
            assertThat(linux.mayHaveChanged()).isFalse();
        }
    }

    @Test
    void sourceThatCannotBeAskedIsNotTaken() {
        ScriptedSource works = new ScriptedSource(new Host(List.of()));
        assertThat(SourceChoice.of(null, () -> works)).isSameAs(works);
        assertThat(works.isClosed()).isFalse();
        ScriptedSource refused = new ScriptedSource(new Host(List.of()));
        refused.isUnknown(true);
        assertThat(SourceChoice.of(null, () -> refused)).isInstanceOf(InterfaceSource.class);
        assertThat(refused.isClosed()).isTrue();
        assertThat(SourceChoice.of("asked for", () -> works)).isInstanceOf(InterfaceSource.class);
    }

    @Test
    void waitEndsByWaking() throws Exception {
        for (HostSource source : List.of(linux(), new InterfaceSource())) {
            source.wake();
            source.await(Long.MAX_VALUE);
            source.close();
        }
    }

    @Test
    void portableSourceReadsTheStatesOfIpv6Addresses() throws Exception {
        InetAddress loopback = InetAddress.ofLiteral("::1");
        NetworkInterface on = NetworkInterface.getByInetAddress(loopback);
        assumeThat(on).as("an interface with ::1").isNotNull();
        Path flags = folder.resolve("if_inet6");
        try (HostSource source = new InterfaceSource(flags)) {
            assertThat(state(source, on, loopback)).isEqualTo(HostAddress.State.USABLE);
            Files.writeString(flags, FLAGGED.formatted(on.getIndex(), 0xc0));
            assertThat(state(source, on, loopback)).isEqualTo(HostAddress.State.TENTATIVE);
            Files.writeString(flags, FLAGGED.formatted(on.getIndex(), 0xc8));
            assertThat(state(source, on, loopback)).isEqualTo(HostAddress.State.DUPLICATE);
            Files.writeString(flags, FLAGGED.formatted(on.getIndex() + 1, 0xc8));
            assertThat(state(source, on, loopback)).isEqualTo(HostAddress.State.USABLE);
        }
    }

    private static HostAddress.State state(HostSource source, NetworkInterface on,
            InetAddress address) throws Exception {
        return source.look().named(on.getName()).orElseThrow().addresses().stream()
                .filter(each -> each.address().equals(address)).findFirst().orElseThrow().state();
    }
}
