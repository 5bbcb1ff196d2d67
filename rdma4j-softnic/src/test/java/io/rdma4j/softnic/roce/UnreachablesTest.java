// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.DatagramLookup;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SendFailures;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of what the system says of packets that do not arrive. */
class UnreachablesTest {
    private static final Gid THERE = Gid.of(InetAddress.ofLiteral("192.0.2.7"));
    private static final Gid ELSEWHERE = Gid.of(InetAddress.ofLiteral("192.0.2.8"));
    private static final long SECOND_NS = 1_000_000_000;

    private final Port port = new Port();
    private final FixedPorts network = new FixedPorts(port);
    private final List<String> told = new ArrayList<>();
    private final SendFailures whom = (destination, why) -> told.add(destination + " " + why);
    private long nowNs;
    private final Unreachables unreachables = new Unreachables(network, () -> nowNs);

    /** Has reports of packets to one destination. */
    private static final class Port extends FixedPorts.Port {
        final List<Errno> reports = new ArrayList<>();

        @Override
        public void takeReports(SendFailures failures) {
            reports.forEach(why -> failures.onFailure(THERE, why));
            reports.clear();
        }

        @Override
        public int receive(PacketHandler handler, int budget) {
            return 0;
        }
    }

    @Test
    void eachReportIsPassedOnOnce() {
        port.reports.add(Errno.EHOSTUNREACH);
        assertThat(unreachables.hasNew()).isFalse();
        unreachables.look();
        assertThat(unreachables.hasNew()).isTrue();
        unreachables.reportTo(whom);
        unreachables.reportTo(whom);
        assertThat(told).containsExactly(THERE + " EHOSTUNREACH");
        assertThat(unreachables.hasNew()).isFalse();
    }

    @Test
    void whatIsAboutThePastIsPassedOnToNoRequestAndIsKept() {
        port.reports.add(Errno.EHOSTUNREACH);
        unreachables.forget(port);
        unreachables.look();
        assertThat(unreachables.hasNew()).isFalse();
        assertThat(unreachables.last(THERE)).isEqualTo(Errno.EHOSTUNREACH);
    }

    @Test
    void theLastReportOfEachDestinationIsKeptForAMinute() {
        unreachables.onFailure(THERE, Errno.ECONNREFUSED);
        unreachables.onFailure(THERE, Errno.EHOSTUNREACH);
        nowNs = 60 * SECOND_NS;
        assertThat(unreachables.last(THERE)).isEqualTo(Errno.EHOSTUNREACH);
        assertThat(unreachables.last(ELSEWHERE)).isNull();
        nowNs++;
        assertThat(unreachables.last(THERE)).isNull();
    }

    @Test
    void oldDestinationsMakeRoomForNewOnes() {
        for (int i = 0; i < 1000; i++) {
            unreachables.onFailure(new Gid(0, 0xffff_c000_0000L + i), Errno.EPERM);
            unreachables.reportTo(whom);
        }
        assertThat(unreachables.last(new Gid(0, 0xffff_c000_0000L))).isNull();
        assertThat(unreachables.last(new Gid(0, 0xffff_c000_0000L + 999))).isEqualTo(Errno.EPERM);
    }

    /** Hears the outcome of a look-up. */
    private final class Outcome implements DatagramLookup.Events {
        @Override
        public void onService(int queuePair, int qkey, byte[] privateData) {
            told.add("service");
        }

        @Override
        public void onRefused(int status, byte[] privateData) {
            told.add("refused");
        }

        @Override
        public void onUnreachable(Errno reason) {
            told.add("unreachable " + reason);
        }
    }

    @Test
    void aRequestEndsByWhatTheNetworkReportsWhenItIsTimeToLook() {
        IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1), () -> 1);
        RoceLink link = new RoceLink(network, manager, new MulticastGroups(), () -> 100,
                new ProcessNumbers(PortSharing.NONE, () -> 100), to -> Path.NONE);
        manager.lookUp(new ConnectSpec(new CmPeer(ELSEWHERE, THERE), PortSpace.UDP,
                QueuePairType.UD, 40_000, 40_001, new ConnectionParameters(), 0, Mtu.MTU_1024, 0,
                null), new Outcome(), 0);
        port.reports.add(Errno.EHOSTUNREACH);
        link.onTime(0);
        assertThat(told).isEmpty();
        link.onTime(manager.deadlineNs());
        assertThat(told).containsExactly("unreachable EHOSTUNREACH");
    }
}
