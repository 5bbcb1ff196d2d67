// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.verbs.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class PacketLengthTest {
    /** IP 20 or 40, UDP 8, BTH 12, RETH 16, immediate 4, ICRC 4. */
    @Test
    void longestPacketIsAWriteWithImmediateOfOnePathMtu() {
        assertThat(Opcode.RC_WRITE_ONLY_IMMEDIATE.headerLength()).isEqualTo(32);
        assertThat(PacketLength.longest(Mtu.MTU_1024, true)).isEqualTo(1024 + 64);
        assertThat(PacketLength.longest(Mtu.MTU_1024, false)).isEqualTo(1024 + 84);
    }

    @ParameterizedTest
    @CsvSource({"1500, 1024, 1024", "9000, 4096, 4096", "65536, 4096, 4096", "4160, 4096, 2048",
        "4159, 2048, 2048", "4176, 4096, 2048", "4180, 4096, 4096", "2112, 2048, 1024",
        "2131, 2048, 1024", "2132, 2048, 2048", "1400, 1024, 1024", "1280, 1024, 1024",
        "1107, 1024, 512", "576, 512, 256", "68, 256, 256"})
    void pathMtuLeavesRoomForTheHeadersOfItsIpVersion(int link, int overIpv4, int overIpv6) {
        assertThat(PacketLength.largestMtu(link, true).bytes()).isEqualTo(overIpv4);
        assertThat(PacketLength.largestMtu(link, false).bytes()).isEqualTo(overIpv6);
    }
}
