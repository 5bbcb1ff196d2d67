// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.cm.AddressInfo.Flag;
import io.rdma4j.cm.AddressInfo.Hints;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.connection.SidrStatus;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AddressInfoTest {
    private static void assertRefused(ThrowingCallable call, Errno errno, String word) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno))
                .withMessageContaining(word);
    }

    private static InetSocketAddress socket(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    @Test
    void activeSideGetsADestination() throws Exception {
        AddressInfo info = AddressInfo.resolve("127.0.0.1", "7471").getFirst();
        assertThat(info).isEqualTo(new AddressInfo(false, PortSpace.TCP, QueuePairType.RC, null,
                socket("127.0.0.1", 7471)));
    }

    @Test
    void passiveSideGetsASource() throws Exception {
        Hints passive = new Hints().set(Flag.PASSIVE);
        assertThat(AddressInfo.resolve("127.0.0.1", "7471", passive).getFirst().source())
                .isEqualTo(socket("127.0.0.1", 7471));
        assertThat(AddressInfo.resolve(null, "7471", passive).getFirst())
                .isEqualTo(new AddressInfo(true, PortSpace.TCP, QueuePairType.RC,
                        socket("0.0.0.0", 7471), null));
        assertThat(AddressInfo.resolve(null, "7471", passive.family(StandardProtocolFamily.INET6))
                .getFirst().source()).isEqualTo(socket("::", 7471));
    }

    @Test
    void withoutNodeTheActiveSideMeansLoopback() throws Exception {
        assertThat(AddressInfo.resolve(null, "1").getFirst().destination())
                .isEqualTo(socket("127.0.0.1", 1));
        assertThat(AddressInfo
                .resolve(null, "1", new Hints().family(StandardProtocolFamily.INET6)).getFirst()
                .destination()).isEqualTo(socket("::1", 1));
    }

    @Test
    void withoutNodeAndServiceTheHintsCount() throws Exception {
        Hints hints = new Hints().source(socket("127.0.0.1", 0))
                .destination(socket("127.0.0.2", 5));
        AddressInfo info = AddressInfo.resolve(null, null, hints).getFirst();
        assertThat(info.source()).isEqualTo(socket("127.0.0.1", 0));
        assertThat(info.destination()).isEqualTo(socket("127.0.0.2", 5));
        assertRefused(() -> AddressInfo.resolve(null, null), Errno.EINVAL, "node");
    }

    @Test
    void typeAndPortSpaceFollowFromEachOther() throws Exception {
        assertThat(AddressInfo.resolve("::1", "1", new Hints().queuePairType(QueuePairType.UD))
                .getFirst().portSpace()).isEqualTo(PortSpace.UDP);
        assertThat(AddressInfo.resolve("::1", "1", new Hints().portSpace(PortSpace.UDP)).getFirst()
                .queuePairType()).isEqualTo(QueuePairType.UD);
        assertThat(AddressInfo.resolve("::1", "1", new Hints().portSpace(PortSpace.IB)).getFirst()
                .queuePairType()).isEqualTo(QueuePairType.RC);
        assertRefused(() -> AddressInfo.resolve("::1", "1",
                new Hints().portSpace(PortSpace.UDP).queuePairType(QueuePairType.RC)), Errno.EINVAL,
                "UDP");
    }

    @Test
    void servicesHaveNumbersOrNames() throws Exception {
        assertThat(ServiceNames.port("65535", "tcp")).isEqualTo(65535);
        assertRefused(() -> ServiceNames.port("65536", "tcp"), Errno.EINVAL, "65536");
        assertRefused(() -> ServiceNames.port("99999999999", "tcp"), Errno.EINVAL, "99999999999");
        assertRefused(() -> ServiceNames.port("no such service", "tcp"), Errno.ENOENT,
                "no such service");
        assertRefused(() -> ServiceNames.port("", "tcp"), Errno.ENOENT, "unknown");
        assertRefused(() -> ServiceNames.port("-1", "tcp"), Errno.ENOENT, "-1");
        List<String> table = List.of("# comment", "", "http\t80/tcp\twww # the web", "tftp 69/udp",
                "broken", "odd x/tcp");
        assertThat(ServiceNames.find(table, "http", "tcp")).isEqualTo(80);
        assertThat(ServiceNames.find(table, "www", "tcp")).isEqualTo(80);
        assertThat(ServiceNames.find(table, "tftp", "tcp")).isEqualTo(-1);
        assertThat(ServiceNames.find(table, "tftp", "udp")).isEqualTo(69);
        assertThat(ServiceNames.find(table, "the", "tcp")).isEqualTo(-1);
        assertThat(ServiceNames.find(table, "odd", "tcp")).isEqualTo(-1);
    }

    @Test
    void flagsAreHeeded() throws Exception {
        assertRefused(() -> AddressInfo.resolve("localhost", "1",
                new Hints().set(Flag.NUMERIC_HOST)), Errno.EHOSTUNREACH, "localhost");
        assertRefused(() -> AddressInfo.resolve("::1", "1", new Hints().set(Flag.FAMILY)),
                Errno.EINVAL, "family");
        assertRefused(
                () -> AddressInfo.resolve("::1", "1",
                        new Hints().set(Flag.FAMILY).family(StandardProtocolFamily.INET)),
                Errno.EHOSTUNREACH, "::1");
    }

    @Test
    void everyEventHasItsName() {
        for (CmEventType type : CmEventType.values()) {
            assertThat(type.text()).isEqualTo(type == CmEventType.UNKNOWN
                    ? "UNKNOWN EVENT"
                    : "RDMA_CM_EVENT_" + type.name());
            assertThat(CmEventType.ofCode(type.code())).isEqualTo(type);
        }
        assertThat(CmEventType.values()).hasSize(20);
        assertThat(CmEventType.USER.code()).isEqualTo(18);
        assertThat(SidrStatus.text(2)).isEqualTo("rejected by the service");
        assertThat(SidrStatus.text(99)).isEqualTo("unknown status");
        assertThat(RejectReason.text(99)).isEqualTo("unknown reason");
    }
}
