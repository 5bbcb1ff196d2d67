// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import java.net.Inet4Address;
import java.net.Inet6Address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Rules that choose frames. */
class FlowRuleTest {
    @Test
    void matchesAreKeptByLayer() {
        FlowRule rule = FlowRule.of(PortMatch.UDP.withDestination(4791), Ipv4Match.ANY,
                EthernetMatch.ANY);
        assertThat(rule.matches()).extracting(FlowMatch::layer).containsExactly(2, 3, 4);
        assertThat(rule.port()).isOne();
    }

    @Test
    void ruleHasOneMatchOfALayerAtMost() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowRule.of(Ipv4Match.ANY, Ipv6Match.ANY))
                .withMessageContaining("one match of each layer");
    }

    @Test
    void onlyRulesByHeadersHaveMatches() {
        assertThatIllegalArgumentException().isThrownBy(FlowRule::of)
                .withMessageContaining("needs a match");
        FlowRule sniffer = FlowRule.of(FlowRuleType.SNIFFER);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FlowRule(sniffer.type(), FlowRule.of(PortMatch.TCP).matches(),
                        0, 1, false))
                .withMessageContaining("SNIFFER");
    }

    @Test
    void numbersThatNoFieldHoldsAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowRule.of(FlowRuleType.SNIFFER).withPriority(65536));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EthernetMatch.ANY.withDestination(1L << 48));
        assertThatIllegalArgumentException().isThrownBy(() -> EthernetMatch.ANY.withVlan(4096));
        assertThatIllegalArgumentException().isThrownBy(() -> PortMatch.TCP.withSource(-1));
        assertThatIllegalArgumentException().isThrownBy(
                () -> Ipv4Match.ANY.withSource(Inet4Address.ofLiteral("192.0.2.1"), 33));
    }

    @Test
    void prefixesAreMasks() {
        Inet4Address four = Inet4Address.ofLiteral("192.0.2.1");
        assertThat(Ipv4Match.ANY.withSource(four).mask().source()).isEqualTo(-1);
        assertThat(Ipv4Match.ANY.withSource(four, 20).mask().source()).isEqualTo(0xffff_f000);
        assertThat(Ipv4Match.ANY.withSource(four, 0).mask().source()).isZero();
        assertThat(Ipv4Match.ANY.withSource(four).value().source()).isEqualTo(0xc000_0201);
        Inet6Address six = (Inet6Address) Inet6Address.ofLiteral("2001:db8::1");
        assertThat(Ipv6Match.ANY.withDestination(six).mask().destination())
                .isEqualTo(new Gid(-1, -1));
        assertThat(Ipv6Match.ANY.withDestination(six, 48).mask().destination())
                .isEqualTo(new Gid(0xffff_ffff_ffff_0000L, 0));
        assertThat(Ipv6Match.ANY.withDestination(six, 65).mask().destination())
                .isEqualTo(new Gid(-1, Long.MIN_VALUE));
    }
}
