// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What is said of sockets that Netty makes by itself. */
class NativeTransportsTest {
    private final List<String> said = new ArrayList<>();
    private final NativeTransports transports = new NativeTransports(said::add);

    private void load(String name) {
        assertThat(transports.transform(null, null, name, null, null, new byte[0])).isNull();
    }

    @ParameterizedTest
    @CsvSource({"io/netty/channel/epoll/EpollSocketChannel, io.netty.transport.noNative",
        "io/netty/channel/uring/IoUringServerSocketChannel, io.netty.transport.noNative",
        "io/netty/channel/kqueue/KQueueSocketChannel, io.netty.transport.noNative",
        "io/grpc/netty/shaded/io/netty/channel/epoll/EpollServerSocketChannel,"
                + " io.grpc.netty.shaded.io.netty.transport.noNative"})
    void programThatTakesThemIsToldOnce(String name, String property) {
        load(name);
        load(name);
        load("io/netty/channel/epoll/EpollServerSocketChannel");
        assertThat(said).singleElement().asString()
                .startsWith("rdma4j: " + name.replace('/', '.') + " goes over TCP")
                .contains("-D" + property + " be true").doesNotContain("\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"io/netty/channel/socket/nio/NioSocketChannel",
        "io/netty/channel/epoll/Epoll", "io/netty/channel/epoll/EpollEventLoopGroup",
        "java/nio/channels/SocketChannel", "io/rdma4j/sockets/RdmaSocketChannel"})
    void othersSayNothing(String name) {
        load(name);
        load("io/netty/channel/epoll/EpollDatagramChannel");
        assertThat(said).isEmpty();
    }
}
