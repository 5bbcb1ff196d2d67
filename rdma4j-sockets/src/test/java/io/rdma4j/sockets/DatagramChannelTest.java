// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.protocol.Introduction;
import io.rdma4j.testkit.Wait;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Datagrams over the software RoCE device. */
@ExtendWith(BeansAtTimeout.class)
class DatagramChannelTest {
    private static final int EXCHANGES = 2000;

    private static RdmaDatagramChannel open() throws IOException {
        return RdmaSockets.openDatagramChannel().setOption(RdmaSocketOptions.RDMA_DEVICE,
                "roce_lo");
    }

    private static RdmaDatagramChannel bound() throws IOException {
        return open().bind(Transport.loopback(0));
    }

    private static ByteBuffer numbered(int number, int length) {
        byte[] bytes = new byte[length];
        new Random(number).nextBytes(bytes);
        return ByteBuffer.wrap(bytes).putInt(0, number);
    }

    /**
     * Through the network, as everything in these tests: it loses datagrams while other processes come to share the port, or go. Then one is sent again after
     * a second, and answered again.
     */
    @Test
    void bothSidesExchangeDatagrams() throws Exception {
        AtomicInteger number = new AtomicInteger();
        // Closing the channels ends what the threads wait for.
        try (ExecutorService answering = Executors.newSingleThreadExecutor();
                ScheduledExecutorService again = Executors.newSingleThreadScheduledExecutor();
                RdmaDatagramChannel server = bound();
                RdmaDatagramChannel client = open()) {
            client.connect(Objects.requireNonNull(server.getLocalAddress()));
            SocketAddress from = client.getLocalAddress();
            Future<Void> answered = answering.submit(() -> answer(server, from));
            AtomicInteger seen = new AtomicInteger();
            Future<?> _ = again.scheduleWithFixedDelay(() -> {
                int now = number.get();
                if (seen.getAndSet(now) == now) {
                    write(client, now);
                }
            }, 1, 1, TimeUnit.SECONDS);
            ByteBuffer got = ByteBuffer.allocate(3000);
            for (int i = 1; i < EXCHANGES; i++) {
                number.set(i);
                write(client, i);
                do {
                    assertThat(client.read(got.clear())).isPositive();
                } while (got.getInt(0) < i);
                assertThat(got.flip()).isEqualTo(numbered(i, length(i)));
            }
            // The last one has no answer.
            number.set(EXCHANGES);
            write(client, EXCHANGES);
            answered.get();
            again.shutdownNow();
        }
    }

    private static @Nullable Void answer(RdmaDatagramChannel server, @Nullable SocketAddress from)
            throws IOException {
        ByteBuffer got = ByteBuffer.allocate(3000);
        int number = 0;
        while (number < EXCHANGES) {
            assertThat(server.receive(got.clear())).isEqualTo(from);
            number = got.getInt(0);
            assertThat(got.flip()).isEqualTo(numbered(number, length(number)));
            assertThat(server.send(got, Objects.requireNonNull(from))).isEqualTo(length(number));
        }
        return null;
    }

    private static int length(int number) {
        return 4 + number % 2000;
    }

    private static void write(RdmaDatagramChannel client, int number) {
        try {
            assertThat(client.write(numbered(number, length(number)))).isEqualTo(length(number));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The device has no datagrams, so the peer cannot be answered: what has come with its introduction is received all the same. */
    @Test
    void whatCameIsReceivedThoughItsSenderCannotBeAnswered() throws IOException {
        try (RdmaDatagramChannel server = RdmaSockets.openDatagramChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, "iwarp_lo").bind(null);
                DatagramChannel sender = DatagramChannel.open().bind(Transport.loopback(0))) {
            InetSocketAddress to = Transport.loopback(
                    ((InetSocketAddress) Objects.requireNonNull(server.getLocalAddress()))
                            .getPort());
            ByteBuffer message = ByteBuffer.allocate(100);
            new Introduction(true, 7).put(message, to.getAddress().getAddress());
            sender.send(message.put(numbered(1, 8)).flip(), to);
            ByteBuffer got = ByteBuffer.allocate(100);
            assertThat(server.receive(got)).isEqualTo(sender.getLocalAddress());
            assertThat(got.flip()).isEqualTo(numbered(1, 8));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void wildcardAddressReceivesForTheAddressThatPeersUse(String host) throws IOException {
        InetAddress address = InetAddress.ofLiteral(host);
        try (RdmaDatagramChannel server = RdmaSockets.openDatagramChannel().bind(null);
                RdmaDatagramChannel client = RdmaSockets.openDatagramChannel()) {
            int port = ((InetSocketAddress) Objects.requireNonNull(server.getLocalAddress()))
                    .getPort();
            client.connect(new InetSocketAddress(address, port));
            ByteBuffer got = ByteBuffer.allocate(100);
            for (int i = 0; i < 3; i++) {
                client.write(numbered(i, 9));
                SocketAddress from = Objects.requireNonNull(server.receive(got.clear()));
                assertThat(((InetSocketAddress) from).getAddress()).isEqualTo(address);
                server.send(got.flip(), from);
                assertThat(client.read(got.clear())).isEqualTo(9);
            }
        }
    }

    @Test
    void longestDatagramHasWhatIsLeftOfTwoKibibytes() throws IOException {
        try (RdmaDatagramChannel server = bound(); RdmaDatagramChannel client = open()) {
            client.connect(Objects.requireNonNull(server.getLocalAddress()));
            ByteBuffer got = ByteBuffer.allocate(3000);
            for (int i = 0; i < 2; i++) {
                // Over UDP, and over RDMA.
                client.write(numbered(1, 2040));
                SocketAddress from = Objects.requireNonNull(server.receive(got.clear()));
                assertThat(got.flip()).isEqualTo(numbered(1, 2040));
                server.send(ByteBuffer.allocate(1), from);
                assertThat(client.read(got.clear())).isEqualTo(1);
            }
            ByteBuffer tooLong = ByteBuffer.allocate(2041);
            assertThatThrownBy(() -> client.write(tooLong)).isInstanceOf(SocketException.class)
                    .hasMessage("Message too long: a datagram over roce_lo has at most 2040"
                            + " bytes, not 2041");
            assertThat(tooLong.position()).isZero();
        }
    }

    @Test
    void secondDatagramIsNoneOfUdp() throws IOException {
        try (DatagramChannel spy = DatagramChannel.open(StandardProtocolFamily.INET)
                .bind(Transport.loopback(0));
                RdmaDatagramChannel client = bound()) {
            // The spy stands for a peer whose queue pair is that of the channel itself.
            ByteBuffer got = ByteBuffer.allocate(3000);
            client.connect(spy.getLocalAddress());
            client.write(numbered(1, 5));
            SocketAddress from = spy.receive(got);
            assertThat(from).isEqualTo(client.getLocalAddress());
            got.flip();
            assertThat(got.remaining()).isEqualTo(16 + 5);
            assertThat(got.getInt(0)).isEqualTo(0x5555_5555);
            assertThat(got.get(5)).isZero();
            byte[] answer = new byte[16];
            got.get(0, answer);
            answer[5] = 7;
            spy.send(ByteBuffer.wrap(answer), from);
            spy.configureBlocking(false);
            Wait.until("the queue pair of the peer is known", () -> {
                try {
                    client.write(numbered(2, 5));
                    return spy.receive(got.clear()) == null;
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    @Test
    void whatIsNoIntroductionIsDropped() throws IOException {
        try (DatagramChannel hostile = DatagramChannel.open(StandardProtocolFamily.INET);
                RdmaDatagramChannel server = bound();
                RdmaDatagramChannel client = open()) {
            SocketAddress to = Objects.requireNonNull(server.getLocalAddress());
            Random random = new Random(48);
            // No more than a socket of UDP has room for, or what is sent afterwards would be lost.
            for (int i = 0; i < 100; i++) {
                byte[] bytes = new byte[random.nextInt(60)];
                random.nextBytes(bytes);
                hostile.send(ByteBuffer.wrap(bytes), to);
            }
            // A tag, and no end.
            hostile.send(ByteBuffer.wrap(HexFormat.of().parseHex("5555555504001000")), to);
            client.connect(to);
            ByteBuffer got = ByteBuffer.allocate(100);
            client.write(numbered(3, 8));
            assertThat(server.receive(got)).isEqualTo(client.getLocalAddress());
            assertThat(got.flip()).isEqualTo(numbered(3, 8));
        }
    }

    @Test
    void connectedChannelHearsItsPeerAlone() throws IOException {
        try (RdmaDatagramChannel server = bound();
                RdmaDatagramChannel peer = bound();
                RdmaDatagramChannel stranger = bound()) {
            SocketAddress to = Objects.requireNonNull(server.getLocalAddress());
            ByteBuffer got = ByteBuffer.allocate(100);
            stranger.send(numbered(1, 4), to);
            assertThat(server.receive(got)).isEqualTo(stranger.getLocalAddress());
            server.connect(Objects.requireNonNull(peer.getLocalAddress()));
            stranger.send(numbered(2, 4), to);
            stranger.send(numbered(3, 4), to);
            peer.send(numbered(4, 4), to);
            assertThat(server.read(got.clear())).isEqualTo(4);
            assertThat(got.getInt(0)).isEqualTo(4);
            server.disconnect();
            stranger.send(numbered(5, 4), to);
            // What the stranger has sent before may still have been on its way.
            do {
                assertThat(server.receive(got.clear())).isEqualTo(stranger.getLocalAddress());
            } while (got.getInt(0) != 5);
        }
    }

    @Test
    void peerThatIsAnotherProgramNowIsFound() throws IOException {
        try (RdmaDatagramChannel client = bound()) {
            RdmaDatagramChannel first = bound();
            InetSocketAddress at = (InetSocketAddress) Objects
                    .requireNonNull(first.getLocalAddress());
            ByteBuffer got = ByteBuffer.allocate(100);
            client.connect(at);
            client.write(numbered(1, 4));
            first.send(ByteBuffer.allocate(1), Objects.requireNonNull(first.receive(got)));
            assertThat(client.read(got.clear())).isEqualTo(1);
            first.close();
            try (RdmaDatagramChannel second = open().bind(at)) {
                second.configureBlocking(false);
                Wait.until("the client asks the silent peer again", () -> {
                    try {
                        client.write(numbered(2, 4));
                        return second.receive(got.clear()) != null;
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                assertThat(got.flip()).isEqualTo(numbered(2, 4));
            }
        }
    }

    @Test
    void datagramsThatNobodyTakesAreLostAndOthersKept() throws IOException {
        try (RdmaDatagramChannel server = open()
                .setOption(StandardSocketOptions.SO_RCVBUF, 16 * 2048)
                .bind(Transport.loopback(0)); RdmaDatagramChannel client = open()) {
            client.connect(Objects.requireNonNull(server.getLocalAddress()));
            ByteBuffer got = ByteBuffer.allocate(100);
            client.write(numbered(0, 4));
            server.send(ByteBuffer.allocate(1), Objects.requireNonNull(server.receive(got)));
            client.read(got.clear());
            for (int i = 0; i < 1000; i++) {
                client.write(numbered(i, 4));
            }
            server.configureBlocking(false);
            BitSet seen = new BitSet();
            // Those that the client sends before it knows the server's queue pair go over UDP, and may be seen last.
            Wait.until("the first datagrams are there", () -> {
                receiveAll(server, seen);
                return seen.nextClearBit(0) >= 16;
            });
            // What is still on its way may take the room of later ones.
            Wait.until("it receives again", () -> {
                client.write(numbered(5000, 4));
                receiveAll(server, seen);
                return seen.get(5000);
            });
        }
    }

    private static void receiveAll(RdmaDatagramChannel from, BitSet into) throws IOException {
        ByteBuffer got = ByteBuffer.allocate(100);
        while (from.receive(got.clear()) != null) {
            into.set(got.getInt(0));
        }
    }

    @Test
    void selectorSeesDatagrams() throws IOException {
        try (RdmaDatagramChannel server = bound();
                RdmaDatagramChannel client = open();
                Selector selector = RdmaSockets.openSelector()) {
            server.configureBlocking(false);
            SelectionKey key = server.register(selector, SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();
            client.connect(Objects.requireNonNull(server.getLocalAddress()));
            ByteBuffer got = ByteBuffer.allocate(100);
            for (int i = 0; i < 5; i++) {
                client.write(numbered(i, 4));
                assertThat(selector.select()).isEqualTo(1);
                assertThat(key.isReadable()).isTrue();
                selector.selectedKeys().clear();
                SocketAddress from = Objects.requireNonNull(server.receive(got.clear()));
                assertThat(server.receive(ByteBuffer.allocate(1))).isNull();
                assertThat(selector.selectNow()).isZero();
                server.send(got.flip(), from);
                assertThat(client.read(got.clear())).isEqualTo(4);
            }
            key.interestOps(SelectionKey.OP_WRITE);
            assertThat(selector.selectNow()).isEqualTo(1);
            assertThat(key.isWritable()).isTrue();
        }
    }

    @Test
    void iwarpHasNoDatagrams() throws IOException {
        try (RdmaDatagramChannel channel = RdmaSockets.openDatagramChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, "iwarp_lo")) {
            assertThatThrownBy(() -> channel.bind(Transport.loopback(0)))
                    .isInstanceOf(SocketException.class).hasMessage("the device of 127.0.0.1"
                            + " has no datagrams: only RoCE has them, iWARP has not");
            assertThat(channel.getLocalAddress()).isNull();
        }
    }

    @Test
    void portIsFreeAfterClose() throws IOException {
        RdmaDatagramChannel first = bound();
        InetSocketAddress at = (InetSocketAddress) Objects.requireNonNull(first.getLocalAddress());
        for (int i = 0; i < 20; i++) {
            first.close();
            first = open().bind(at);
        }
        first.close();
    }
}
