// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SocketWorkloadTest {
    @Test
    void unknownNameIsAnsweredWithAllThatThereAre() {
        assertThatThrownBy(() -> SocketsComparison.wanted(List.of("HTTP", "NONSENSE")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no workload 'NONSENSE'; there are STREAM_1M, STREAM_8K,"
                        + " PING_PONG, POLLED, NETTY, NETTY_EPOLL, HTTP, HTTP_JETTY,"
                        + " HTTP_CLIENT, HTTP_JETTY_CLIENT");
    }

    @Test
    void noNamesMeanAll() {
        assertThat(SocketsComparison.wanted(List.of())).containsExactly(SocketWorkload.values());
        assertThat(SocketsComparison.wanted(List.of("POLLED", "HTTP")))
                .containsExactly(SocketWorkload.POLLED, SocketWorkload.HTTP);
    }
}
