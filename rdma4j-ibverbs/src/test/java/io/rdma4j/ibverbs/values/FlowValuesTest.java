// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.values;

import io.rdma4j.verbs.EthernetMatch;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.FlowRuleType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Ipv4Match;
import io.rdma4j.verbs.Ipv6Match;
import io.rdma4j.verbs.PortMatch;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

/** Rules as the C headers lay them out, byte by byte. */
class FlowValuesTest {
    private static final Inet4Address FOUR = Inet4Address.ofLiteral("192.0.2.1");
    private static final Inet6Address SIX = (Inet6Address) Inet6Address.ofLiteral("2001:db8::1");

    private static byte[] written(FlowRule rule) {
        return FlowValues.of(rule, Arena.ofAuto()).toArray(JAVA_BYTE);
    }

    /** The beginning of a rule for port 1 with one specification, and of that. */
    private static ByteBuffer expected(int size, int type) {
        return head(0, 20 + size, 0, 1, 1, 0).putInt(type).putShort((short) size);
    }

    private static ByteBuffer head(int type, int size, int priority, int specifications,
            int port, int flags) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder()).putInt(0).putInt(type)
                .putShort((short) size).putShort((short) priority).put((byte) specifications)
                .put((byte) port).putShort((short) 0).putInt(flags);
    }

    private static ByteBuffer put(ByteBuffer to, int... bytes) {
        for (int each : bytes) {
            to.put((byte) each);
        }
        return to;
    }

    @Test
    void ruleWithoutMatchesIsAHeadAlone() {
        assertThat(written(FlowRule.of(FlowRuleType.ALL_DEFAULT)))
                .isEqualTo(head(1, 20, 0, 0, 1, 0).array());
        assertThat(written(FlowRule.of(FlowRuleType.MULTICAST_DEFAULT).withPort(2)))
                .isEqualTo(head(2, 20, 0, 0, 2, 0).array());
        assertThat(written(
                FlowRule.of(FlowRuleType.SNIFFER).withPriority(0x1234).passedOn()))
                .isEqualTo(head(3, 20, 0x1234, 0, 1, 2).array());
    }

    @Test
    void ethernetHeader() {
        assertThat(written(FlowRule.of(EthernetMatch.ANY.withDestination(0x0102_0304_0506L)
                .withSource(0x0a0b_0c0d_0e0fL, 0xffff_ff00_0000L).withEtherType(0x8915)
                .withVlan(0x123)))).isEqualTo(put(expected(40, 0x20), 1, 2, 3, 4, 5, 6,
                        10, 11, 12, 13, 14, 15, 0x89, 0x15, 1, 0x23,
                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0xff, 0xff,
                        0xf, 0xff).array());
    }

    @Test
    void ipv4Addresses() {
        assertThat(written(FlowRule.of(Ipv4Match.ANY.withSource(FOUR).withDestination(FOUR, 12))))
                .isEqualTo(put(expected(24, 0x30), 0, 0, 192, 0, 2, 1, 192, 0, 2, 1,
                        0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 0, 0).array());
    }

    @Test
    void ipv4FieldsBeyondAddresses() {
        Ipv4Match match = new Ipv4Match(new Ipv4Match.Fields(0x0102_0304, 0x0506_0708, 9, 10, 11,
                12), new Ipv4Match.Fields(-1, 0, 0xff, 0xfe, 0xfd, 0xfc));
        assertThat(written(FlowRule.of(match))).isEqualTo(put(expected(32, 0x32), 0, 0, 1, 2, 3,
                4, 5, 6, 7, 8, 9, 10, 11, 12, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xfe, 0xfd,
                0xfc).array());
    }

    @Test
    void ipv6Header() {
        Ipv6Match match = Ipv6Match.ANY.withSource(SIX).withDestination(SIX, 16);
        Ipv6Match.Fields value = new Ipv6Match.Fields(match.value().source(),
                match.value().destination(), 0x1_2345, 17, 2, 64);
        Ipv6Match.Fields mask = new Ipv6Match.Fields(new Gid(-1, -1),
                match.mask().destination(), 0xf_ffff, 0xff, 3, 4);
        assertThat(written(FlowRule.of(new Ipv6Match(value, mask)))).isEqualTo(put(put(
                put(expected(88, 0x31), 0, 0)
                        .put(SIX.getAddress()).put(SIX.getAddress()),
                0, 1, 0x23, 0x45, 17, 2, 64, 0).putLong(-1).putLong(-1), 0xff, 0xff, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf, 0xff, 0xff, 0xff, 3, 4, 0).array());
    }

    @Test
    void portsOfTcpAndUdp() {
        assertThat(written(FlowRule.of(PortMatch.UDP.withDestination(4791).withSource(0x1234))))
                .isEqualTo(put(expected(16, 0x41), 0x12, 0xb7, 0x12, 0x34, 0xff, 0xff, 0xff, 0xff)
                        .array());
        assertThat(written(FlowRule.of(PortMatch.TCP.withSource(80))))
                .isEqualTo(put(expected(16, 0x40), 0, 0, 0, 80, 0, 0, 0xff, 0xff).array());
    }

    @Test
    void specificationsFollowEachOtherByLayer() {
        byte[] written = written(FlowRule.of(PortMatch.TCP, EthernetMatch.ANY, Ipv4Match.ANY));
        ByteBuffer expected = head(0, 20 + 40 + 24 + 16, 0, 3, 1, 0).putInt(20, 0x20)
                .putShort(24, (short) 40).putInt(60, 0x30).putShort(64, (short) 24)
                .putInt(84, 0x40).putShort(88, (short) 16);
        assertThat(ByteBuffer.wrap(written)).isEqualTo(expected.rewind());
    }
}
