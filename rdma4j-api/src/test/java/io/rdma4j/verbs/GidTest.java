package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;

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
    @ValueSource(strings = {"", "fe80::1", "0000:0000:0000:0000:0000:ffff:0a4d:00", "xyz"})
    void whatIsNoGidIsRefused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Gid.parse(text))
                .withMessageContaining("32 hexadecimal digits");
    }
}
