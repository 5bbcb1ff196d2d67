// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.util.Arrays;
import java.util.stream.Collectors;

/** What is compared, and how much better or worse than over TCP it may be. */
enum SocketWorkload {
    STREAM_1M("stream of 1 MiB writes", "MB/s", true, 1.5, 0.7), //
    STREAM_8K("stream of 8 KiB heap writes", "MB/s", true, 1.2, 0.6), //
    PING_PONG("64 B ping-pong, blocking", "us", false, 0.3, 1.0), //
    POLLED("64 B ping-pong, selectNow", "us", false, 0.4, 1.2), //
    NETTY("Netty echo, 64 connections", "1/s", true, 2.0, 0.8), //
    NETTY_EPOLL("… against Netty's epoll", "1/s", true, 1.5, 0.8), //
    HTTP("HTTP, 16 connections", "1/s", true, 1.3, 0.8), //
    HTTP_JETTY("HTTP Jetty, 16 connections", "1/s", true, 1.3, 0.8), //
    HTTP_CLIENT("HTTP, 16 connections of the JDK's client", "1/s", true, 1.3, 0.8), //
    HTTP_JETTY_CLIENT("HTTP Jetty, 16 connections of the JDK's client", "1/s", true, 1.3, 0.8);

    final String title;
    final String unit;
    final boolean isMoreBetter;
    /** What is to be reached against TCP through memory, and over the network. */
    final double inMemory;
    final double overNetwork;

    SocketWorkload(String title, String unit, boolean isMoreBetter, double inMemory,
            double overNetwork) {
        this.title = title;
        this.unit = unit;
        this.isMoreBetter = isMoreBetter;
        this.inMemory = inMemory;
        this.overNetwork = overNetwork;
    }

    /**
     * {@return the workload of a name}
     *
     * @throws IllegalArgumentException naming all, if there is none of that name
     */
    static SocketWorkload named(String name) {
        return Arrays.stream(values()).filter(each -> each.name().equals(name)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no workload '" + name
                        + "'; there are " + Arrays.stream(values()).map(Enum::name)
                                .collect(Collectors.joining(", "))));
    }

    SocketProgram program() {
        return switch (this) {
            case STREAM_1M -> new StreamProgram(1 << 20, true);
            case STREAM_8K -> new StreamProgram(8 << 10, false);
            case PING_PONG -> new PingPongProgram(false);
            case POLLED -> new PingPongProgram(true);
            case NETTY -> new NettyProgram(false);
            case NETTY_EPOLL -> new NettyProgram(true);
            case HTTP -> new HttpProgram(new JdkHttpServer(), new SelectorHttpClient());
            case HTTP_JETTY -> new HttpProgram(new JettyHttpServer(), new SelectorHttpClient());
            case HTTP_CLIENT -> new HttpProgram(new JdkHttpServer(), new JdkHttpClient());
            case HTTP_JETTY_CLIENT -> new HttpProgram(new JettyHttpServer(), new JdkHttpClient());
        };
    }
}
