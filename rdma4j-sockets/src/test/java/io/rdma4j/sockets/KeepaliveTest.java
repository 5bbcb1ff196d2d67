// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Probes of an idle peer. */
class KeepaliveTest {
    /** The first probe was two hours away when the connection was made. */
    @Test
    void timeOfAnIdleConnectionCanBeSet() throws Exception {
        try (ServerSocketChannel listener = Transport.ROCE.listen();
                HandMadePeer peer = HandMadePeer.connect(Transport.ROCE, listener,
                        HandMadePeer.honest());
                SocketChannel channel = listener.accept()) {
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            Wait.until("the first credits have come", () -> peer.received() > 0);
            long before = peer.received();
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
            Wait.until("a probe has come", () -> peer.received() >= before + 1);
        }
    }

    /** The next probe, which is two hours away, does not hold it. */
    @Test
    void closedConnectionIsForgotten() throws Exception {
        List<WeakReference<SocketChannel>> closed = closed();
        for (WeakReference<SocketChannel> each : closed) {
            Wait.until("a closed channel is collected", () -> each.get() == null, System::gc);
        }
    }

    private static List<WeakReference<SocketChannel>> closed() throws Exception {
        try (Connected pair = Connected.over(Transport.ROCE)) {
            pair.channel().setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            return List.of(new WeakReference<>(pair.channel()), new WeakReference<>(pair.peer()));
        }
    }

    @Test
    void timeHasRange() throws Exception {
        try (SocketChannel channel = Transport.ROCE.open()) {
            assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(7200);
            assertThatThrownBy(() -> channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            // rsockets have no interval and no count: the device repeats the probe.
            assertThat(channel.supportedOptions())
                    .doesNotContain(ExtendedSocketOptions.TCP_KEEPINTERVAL);
        }
    }
}
