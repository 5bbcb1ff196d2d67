// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.device.ReportedGid;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Which GID a side takes that knows by which of its addresses the peer is reached. */
class GidChoiceTest {
    private static final int ETH0 = 2;
    private static final int ETH1 = 3;
    private static final List<GidEntry> LOOPBACK = table(1, "::1", "127.0.0.1");
    /** A second address of IPv4 is in another network. */
    private static final List<GidEntry> ETHERNET = table(ETH0, "fe80::1", "10.0.0.1", "10.9.0.1",
            "fd00::1");

    private static List<GidEntry> table(int interfaceIndex, String... addresses) {
        List<GidEntry> table = new ArrayList<>();
        for (String address : addresses) {
            table.add(new ReportedGid(Gid.of(InetAddress.ofLiteral(address)), table.size(), 1,
                    GidType.ROCE_V2.code(), interfaceIndex));
        }
        return table;
    }

    private static InetAddress linkLocal(int scope) {
        try {
            return Inet6Address.getByAddress(null, InetAddress.ofLiteral("fe80::1").getAddress(),
                    scope);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @CsvSource({"10.0.0.1, 1", "10.9.0.1, 2", "fd00::1, 3", "fe80::1, 0"})
    void addressOfTheConnectionIsTaken(String local, int index) {
        InetAddress address = InetAddress.ofLiteral(local);
        assertThat(GidChoice.at(ETHERNET, address)).isEqualTo(ETHERNET.get(index));
        assertThat(GidChoice.nearest(ETHERNET, address)).isEqualTo(ETHERNET.get(index));
    }

    @Test
    void tableOfAnotherInterfaceHasNone() {
        assertThat(GidChoice.at(ETHERNET, InetAddress.ofLiteral("10.0.1.1"))).isNull();
        assertThat(GidChoice.at(ETHERNET, InetAddress.ofLiteral("127.0.0.1"))).isNull();
        assertThat(GidChoice.at(LOOPBACK, InetAddress.ofLiteral("10.0.0.1"))).isNull();
    }

    /** Two interfaces of one MAC address have the same link-local address. */
    @Test
    void linkLocalAddressIsOneOfItsInterface() {
        assertThat(GidChoice.at(ETHERNET, linkLocal(ETH0))).isEqualTo(ETHERNET.getFirst());
        assertThat(GidChoice.at(ETHERNET, linkLocal(ETH1))).isNull();
    }

    /** Where processes do not share it, each has an address of loopback of its own. */
    @ParameterizedTest
    @CsvSource({"127.0.0.1, 127.0.0.7", "::1, 127.0.0.7"})
    void anyAddressOfLoopbackStandsForAnother(String local, String own) {
        assertThat(GidChoice.at(table(1, own), InetAddress.ofLiteral(local))).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1, 1", "127.9.9.9, 1", "::1, 0"})
    void loopbackHasBothVersions(String local, int index) {
        assertThat(GidChoice.at(LOOPBACK, InetAddress.ofLiteral(local)))
                .isEqualTo(LOOPBACK.get(index));
    }

    /** The device was chosen, and the connection goes another way: peers of different versions would not meet. */
    @ParameterizedTest
    @CsvSource({"192.168.1.1, 1", "fd99::1, 3", "fe80::99, 0"})
    void nearestIsOfTheSameKind(String local, int index) {
        assertThat(GidChoice.nearest(ETHERNET, InetAddress.ofLiteral(local)))
                .isEqualTo(ETHERNET.get(index));
    }

    @Test
    void whatHasNoneOfTheKindGivesItsFirstOfIpv4() {
        InetAddress local = InetAddress.ofLiteral("fd99::1");
        List<GidEntry> table = table(ETH0, "fe80::1", "10.0.0.1");
        assertThat(GidChoice.nearest(table, local)).isEqualTo(table.getLast());
        List<GidEntry> alone = table(ETH0, "fe80::1");
        assertThat(GidChoice.nearest(alone, local)).isEqualTo(alone.getFirst());
        assertThat(GidChoice.nearest(List.of(), local)).isNull();
    }

    /** Routers forward only one of them. */
    @Test
    void oneAddressOfTwoTypesIsTakenOverUdp() {
        Gid gid = Gid.of(InetAddress.ofLiteral("10.0.0.1"));
        List<GidEntry> table = List.of(new ReportedGid(gid, 2, 1, GidType.ROCE_V1.code(), ETH0),
                new ReportedGid(gid, 3, 1, GidType.ROCE_V2.code(), ETH0));
        assertThat(GidChoice.at(table, gid.address())).isEqualTo(table.getLast());
    }
}
