// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** What a listener does while nobody accepts. */
@Timeout(60)
class AcceptOrderTest {
    private static final int BACKLOG = 5;

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP"})
    void connectionsStandBeforeTheyAreAcceptedAndTheFirstIsAcceptedFirst(Transport transport)
            throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener = transport.openListener()
                .bind(Transport.loopback(0), BACKLOG)) {
            for (int i = 0; i < BACKLOG; i++) {
                SocketChannel client = transport.open();
                clients.add(client);
                assertThat(client.connect(listener.getLocalAddress())).isTrue();
                assertThat(client.write(ByteBuffer.allocate(1).put(0, (byte) i))).isEqualTo(1);
            }
            for (SocketChannel client : clients) {
                try (SocketChannel accepted = listener.accept()) {
                    assertThat(accepted.getRemoteAddress()).isEqualTo(client.getLocalAddress());
                    ByteBuffer number = ByteBuffer.allocate(1);
                    assertThat(accepted.read(number)).isEqualTo(1);
                    assertThat(number.get(0)).isEqualTo((byte) clients.indexOf(client));
                }
            }
        } finally {
            closeAll(clients);
        }
    }

    /** A connection may have come before the channel knew its listener, and have found it not ready. */
    @Test
    void selectorsAreNotifiedOnceTheListenerIsThere() throws Exception {
        try (RdmaServerSocketChannel listener = RdmaSockets.openServerSocketChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")) {
            AtomicInteger notified = new AtomicInteger();
            listener.readiness().add(new ChannelReadiness.Listener() {
                @Override
                public void onReady(int operations) {
                    notified.getAndUpdate(before -> before | operations);
                }

                @Override
                public void onRedirected() {}

                @Override
                public void onRelease() {}

                @Override
                public boolean isSelected() {
                    return true;
                }
            });
            listener.bind(Transport.loopback(0));
            assertThat(notified).hasValue(SelectionKey.OP_ACCEPT);
        }
    }

    /** Linux has room for one more over TCP. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void connectionThatTheBacklogHasNoRoomForStandsOnceThereIs(Transport transport)
            throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener = transport.openListener().bind(Transport.loopback(0),
                1)) {
            SocketChannel first = transport.open();
            clients.add(first);
            assertThat(first.connect(listener.getLocalAddress())).isTrue();
            SocketChannel second = transport.open();
            clients.add(second);
            second.configureBlocking(false);
            assertThat(second.connect(listener.getLocalAddress())).isFalse();
            try (SocketChannel accepted = listener.accept()) {
                assertThat(accepted.getRemoteAddress()).isEqualTo(first.getLocalAddress());
            }
            Wait.until("the second connection stands", second::finishConnect);
            try (SocketChannel accepted = listener.accept()) {
                assertThat(accepted.getRemoteAddress()).isEqualTo(second.getLocalAddress());
            }
        } finally {
            closeAll(clients);
        }
    }

    /**
     * Many more come at a time than the backlog has room for. Over TCP, and so over iWARP, such clients ask again after a second, two, four and so on, which takes
     * a minute here.
     */
    @Test
    void burstIsServedAfterAWhile() throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener = Transport.ROCE.openListener()
                .bind(Transport.loopback(0), 2)) {
            for (int i = 0; i < 30; i++) {
                SocketChannel client = Transport.ROCE.open();
                clients.add(client);
                client.configureBlocking(false);
                boolean _ = client.connect(listener.getLocalAddress());
            }
            for (int i = 0; i < clients.size(); i++) {
                listener.accept().close();
            }
            for (SocketChannel client : clients) {
                Wait.until("it stands", client::finishConnect);
            }
        } finally {
            closeAll(clients);
        }
    }

    private static void closeAll(List<SocketChannel> channels) throws Exception {
        for (SocketChannel channel : channels) {
            channel.close();
        }
    }
}
