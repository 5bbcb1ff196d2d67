// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.basic;

import org.junit.jupiter.api.Test;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class InvitationTest {
    private static List<InetSocketAddress> at(String... addresses) {
        return Arrays.stream(addresses).map(InetAddress::ofLiteral)
                .map(each -> new InetSocketAddress(each, 7174)).toList();
    }

    @Test
    void oneCommandForThisMachineAndOneForOthersCanBePasted() {
        assertThat(Invitation.lines(at("2001:db8::1", "192.0.2.2", "::1", "127.0.0.1")))
                .containsExactly("clients on this machine: rdma4j client 127.0.0.1 7174",
                        "clients on others: rdma4j client 192.0.2.2 7174",
                        "and at ::1, 2001:db8::1");
    }

    @Test
    void listenerAtOneAddressHasOneCommand() {
        assertThat(Invitation.lines(at("127.0.0.1")))
                .containsExactly("clients on this machine: rdma4j client 127.0.0.1 7174");
        assertThat(Invitation.lines(at("192.0.2.2")))
                .containsExactly("clients reach it with: rdma4j client 192.0.2.2 7174");
    }

    @Test
    void linkLocalAddressesComeLastWithTheirInterface() throws Exception {
        byte[] bytes = InetAddress.ofLiteral("fe80::1").getAddress();
        InetSocketAddress ofLink = new InetSocketAddress(
                Inet6Address.getByAddress(null, bytes, 999_999), 7174);
        assertThat(Invitation.lines(List.of(ofLink, at("192.0.2.2").getFirst())))
                .containsExactly("clients reach it with: rdma4j client 192.0.2.2 7174",
                        "and at fe80::1%999999");
    }

    @Test
    void listenerWithoutAnAddressSaysSo() {
        assertThat(Invitation.lines(List.of())).containsExactly("no device has an address yet");
    }
}
