// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketOption;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** What a refused system call is called. */
class RefusedCallsTest {
    private static final Pattern OPTION = Pattern
            .compile("static final int ((SO|IP|IPV6|TCP|UDP)_\\w+) = (\\d+);");

    @Test
    void theMessageHasTheCallAndTheSystemsErrorByName() {
        for (int errno = 1; errno <= 133; errno++) {
            LinuxSocket.Refused refused = new LinuxSocket.Refused(errno, "epoll_ctl");
            assertThat(refused).hasMessage("epoll_ctl: " + SystemErrors.text(errno));
            RdmaException told = refused.during("open device", "nothing waits");
            assertThat(told).hasMessage(
                    "open device: nothing waits: epoll_ctl: " + SystemErrors.text(errno));
            assertThat(told.errorNumber()).isEqualTo(errno);
            assertThat(told.errno()).isIn(Errno.UNKNOWN, Errno.ofNumber(errno));
        }
    }

    @Test
    void eachOptionOfASocketHasItsName() throws IOException {
        String source = Files.readString(Path.of("src", "main", "java",
                SocketOption.class.getName().replace('.', '/') + ".java"));
        List<MatchResult> options = OPTION.matcher(source).results()
                .filter(option -> !option.group(1).equals("IP_PMTUDISC_DO")).toList();
        assertThat(options).hasSizeGreaterThan(25).allSatisfy(option -> assertThat(SocketOption
                .name(level(option.group(2)), Integer.parseInt(option.group(3))))
                .isEqualTo(option.group(1)));
    }

    private static int level(String prefix) {
        return switch (prefix) {
            case "SO" -> SocketOption.SOL_SOCKET;
            case "IP" -> SocketOption.IPPROTO_IP;
            case "IPV6" -> SocketOption.IPPROTO_IPV6;
            case "TCP" -> SocketOption.IPPROTO_TCP;
            case "UDP" -> SocketOption.IPPROTO_UDP;
            default -> throw new IllegalArgumentException(prefix);
        };
    }
}
