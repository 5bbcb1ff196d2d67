// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class GidTest {
    @ParameterizedTest
    @CsvSource({"0000:0000:0000:0000:0000:ffff:0a4d:000b, ::ffff:10.77.0.11",
        "fe80:0000:0000:0000:5054:00ff:fe77:0001, fe80::5054:ff:fe77:1",
        "0000:0000:0000:0000:0000:0000:0000:0001, ::1",
        "0000:0000:0000:0000:0000:0000:0000:0000, ::",
        "2001:0db8:0000:0001:0000:0000:0000:0000, 2001:db8:0:1::",
        "2001:0db8:0001:0001:0001:0001:0001:0000, 2001:db8:1:1:1:1:1:0"})
    void textIsThatOfTheTools(String groups, String address) {
        Gid gid = Gid.parse(groups);
        assertThat(gid).hasToString(groups);
        assertThat(gid.addressText()).isEqualTo(address);
        assertThat(Gid.of(gid.bytes())).isEqualTo(gid);
        assertThat(Gid.of(gid.address())).isEqualTo(gid);
        assertThat(Gid.parse(address)).isEqualTo(gid);
    }

    @Test
    void eitherTextOfAnyGidIsReadAsThatGid() {
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            // Groups of zeros are what differs in the short form.
            Gid gid = new Gid(random.nextLong() & zeroGroups(random),
                    random.nextLong() & zeroGroups(random));
            assertThat(Gid.parse(gid.addressText())).isEqualTo(gid);
            assertThat(Gid.parse(gid.toString())).isEqualTo(gid);
        }
    }

    private static long zeroGroups(Random random) {
        long mask = 0;
        for (int group = 0; group < 4; group++) {
            mask = mask << 16 | (random.nextBoolean() ? 0xffff : 0);
        }
        return mask;
    }

    @Test
    void addressesAreReadAsErrorsPrintThem() {
        assertThat(Gid.parse("::ffff:239.77.1.9"))
                .isEqualTo(Gid.of(InetAddress.ofLiteral("239.77.1.9")));
        assertThat(Gid.parse("FE80::1")).isEqualTo(Gid.of(InetAddress.ofLiteral("fe80::1")));
        assertThat(Gid.parse("::1.2.3.4")).isEqualTo(new Gid(0, 0x0102_0304));
    }

    @Test
    void kindsAreTold() {
        assertThat(Gid.of(InetAddress.ofLiteral("10.1.2.3")).isIpv4()).isTrue();
        assertThat(Gid.of(InetAddress.ofLiteral("fe80::1")).isLinkLocal()).isTrue();
        assertThat(Gid.of(InetAddress.ofLiteral("2001:db8::1")).isLinkLocal()).isFalse();
        assertThat(Gid.ZERO.isZero()).isTrue();
        assertThat(Gid.of(InetAddress.ofLiteral("127.64.0.1")).isLoopback()).isTrue();
        assertThat(Gid.of(InetAddress.ofLiteral("::1")).isLoopback()).isTrue();
        assertThat(Gid.of(InetAddress.ofLiteral("128.0.0.1")).isLoopback()).isFalse();
        assertThat(Gid.of(InetAddress.ofLiteral("fe80::1")).isLoopback()).isFalse();
        assertThat(Gid.ZERO.isLoopback()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fe80::1%lo", "fe80::1%1", "[::1]", "::1::", ":",
        "10.1.2.3", "1:2:3:4:5:6:7:8:9", "::ffff:1.2.3", "::12345", " ::1",
        "0000:0000:0000:0000:0000:ffff:0a4d:00", "xyz"})
    void whatIsNoGidIsRefused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Gid.parse(text))
                .withMessageContaining("32 hexadecimal digits");
    }
}
