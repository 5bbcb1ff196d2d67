// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What is made of the messages in which Linux describes interfaces and addresses: as a kernel 6.18 sent them. */
class RouteMessagesTest {
    private static final int IFA_ADDRESS = 1;
    private static final int IFA_LOCAL = 2;
    private static final int IFA_CACHEINFO = 6;
    private static final int IFA_FLAGS = 8;
    private static final int IFLA_IFNAME = 3;
    private static final int IFLA_MTU = 4;
    private static final int PERMANENT = 0x80;
    private static final int TENTATIVE = 0x40;
    private static final int DEPRECATED = 0x20;
    private static final int DADFAILED = 0x08;
    private static final int OPTIMISTIC = 0x04;
    private static final int UP = 0x1;
    private static final int RUNNING = 0x40;
    private static final int LOOPBACK = 0x8;

    private final RouteMessages messages = new RouteMessages();

    private static ByteBuffer message() {
        return ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());
    }

    private static void attribute(ByteBuffer to, int type, byte[] value) {
        to.putShort((short) (4 + value.length)).putShort((short) type).put(value);
        while (to.position() % 4 != 0) {
            to.put((byte) 0);
        }
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(value).array();
    }

    private static ByteBuffer link(int index, String name, int flags, int mtu) {
        ByteBuffer link = message().putInt(0).putInt(index).putInt(flags).putInt(0);
        attribute(link, IFLA_IFNAME, (name + "\0").getBytes(StandardCharsets.US_ASCII));
        attribute(link, IFLA_MTU, number(mtu));
        return link.flip();
    }

    private static ByteBuffer address(int index, String literal, int flags, int created) {
        byte[] bytes = InetAddress.ofLiteral(literal).getAddress();
        ByteBuffer address = message().put((byte) (bytes.length == 4 ? 2 : 10)).put((byte) 24)
                .put((byte) flags).put((byte) 0).putInt(index);
        attribute(address, IFA_ADDRESS, bytes);
        if (bytes.length == 4) {
            attribute(address, IFA_LOCAL, bytes);
        }
        attribute(address, IFA_CACHEINFO, ByteBuffer.allocate(16).order(ByteOrder.nativeOrder())
                .putInt(-1).putInt(-1).putInt(created).putInt(created).array());
        attribute(address, IFA_FLAGS, number(flags));
        return address.flip();
    }

    private List<HostAddress> addressesOf(String name) {
        return messages.host().named(name).orElseThrow().addresses();
    }

    private List<String> textsOf(String name) {
        return addressesOf(name).stream().map(each -> each.address().getHostAddress()).toList();
    }

    @Test
    void interfaceHasItsNameNumberFlagsAndMtu() {
        messages.onLink(link(1, "lo", UP | RUNNING | LOOPBACK, 65_536));
        messages.onLink(link(7, "eth0", UP, 1500));
        messages.onLink(link(3, "eth1", 0, 9000));
        assertThat(messages.host().interfaces()).containsExactly(
                new HostInterface("lo", 1, true, true, true, 65_536, List.of()),
                new HostInterface("eth1", 3, false, false, false, 9000, List.of()),
                new HostInterface("eth0", 7, true, false, false, 1500, List.of()));
    }

    /** Linux lists 10.1.0.2 last, because it is the second of its subnet. */
    @Test
    void secondaryAddressStandsWhereItCame() {
        messages.onLink(link(3, "eth0", UP | RUNNING, 1500));
        messages.onAddress(address(3, "10.1.0.1", PERMANENT, 10));
        messages.onAddress(address(3, "10.2.0.1", PERMANENT, 20));
        messages.onAddress(address(3, "10.3.0.1", PERMANENT, 40));
        messages.onAddress(address(3, "10.1.0.2", PERMANENT | 1, 30));
        assertThat(textsOf("eth0")).containsExactly("10.1.0.1", "10.2.0.1", "10.1.0.2",
                "10.3.0.1");
    }

    /**
     * Recent versions list the last that came first, older ones the first; a script adds several within a hundredth of a second.
     */
    @ParameterizedTest
    @CsvSource({"3 2 1, 30 20 10", "3 2 1, 30 30 10", "1 2 3, 10 20 30", "1 2 3, 10 30 30"})
    void ipv6AddressesStandInTheOrderInWhichTheyCame(String listed, String created) {
        messages.onLink(link(3, "eth0", UP | RUNNING, 1500));
        String[] times = created.split(" ", -1);
        int at = 0;
        for (String last : listed.split(" ", -1)) {
            messages.onAddress(address(3, "fd00::" + last, PERMANENT,
                    Integer.parseInt(times[at++])));
        }
        assertThat(textsOf("eth0")).containsExactly("fd00:0:0:0:0:0:0:1", "fd00:0:0:0:0:0:0:2",
                "fd00:0:0:0:0:0:0:3");
    }

    @Test
    void addressHasItsState() {
        messages.onLink(link(3, "eth0", UP | RUNNING, 1500));
        messages.onAddress(address(3, "fd00::1", PERMANENT, 1));
        messages.onAddress(address(3, "fd00::2", PERMANENT | TENTATIVE, 2));
        messages.onAddress(address(3, "fd00::3", PERMANENT | TENTATIVE | DADFAILED, 3));
        messages.onAddress(address(3, "fd00::4", DEPRECATED, 4));
        messages.onAddress(address(3, "fd00::5", TENTATIVE | OPTIMISTIC, 5));
        assertThat(addressesOf("eth0")).extracting(HostAddress::state).containsExactly(
                HostAddress.State.USABLE, HostAddress.State.TENTATIVE,
                HostAddress.State.DUPLICATE, HostAddress.State.DEPRECATED,
                HostAddress.State.USABLE);
        assertThat(addressesOf("eth0")).extracting(HostAddress::isUsable).containsExactly(true,
                false, false, true, true);
    }

    /** IFA_ADDRESS is the other end there. */
    @Test
    void addressOfAPointToPointLinkIsThatOfThisMachine() {
        messages.onLink(link(3, "ppp0", UP | RUNNING, 1500));
        ByteBuffer address = message().put(HexFormat.of().parseHex("02200000"))
                .putInt(3);
        attribute(address, IFA_ADDRESS, InetAddress.ofLiteral("10.0.0.9").getAddress());
        attribute(address, IFA_LOCAL, InetAddress.ofLiteral("10.0.0.1").getAddress());
        messages.onAddress(address.flip());
        assertThat(textsOf("ppp0")).containsExactly("10.0.0.1");
    }

    @Test
    void addressOfTheLinkNamesItsInterface() {
        messages.onLink(link(3, "eth0", UP | RUNNING, 1500));
        messages.onAddress(address(3, "fe80::1", PERMANENT, 1));
        assertThat(textsOf("eth0")).containsExactly("fe80:0:0:0:0:0:0:1%3");
    }

    @Test
    void messagesThatAreCutDoNoHarm() {
        ByteBuffer link = link(3, "eth0", UP | RUNNING, 1500);
        for (int length = 0; length < link.limit(); length++) {
            messages.onLink(link.slice(0, length).order(ByteOrder.nativeOrder()));
        }
        messages.onLink(link);
        ByteBuffer address = address(3, "fd00::1", PERMANENT, 1);
        for (int length = 0; length <= address.limit(); length++) {
            messages.onAddress(address.slice(0, length).order(ByteOrder.nativeOrder()));
        }
        assertThat(textsOf("eth0")).isNotEmpty().containsOnly("fd00:0:0:0:0:0:0:1");
    }
}
