// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.LogLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What rules make of connections. The contract tests compare these channels with the JDK's. */
class RuledChannelTest {
    private static final SelectorProvider JDK = SelectorProvider.provider();
    /** What a listener at the wildcard address says of devices that it does without. */
    @RegisterExtension
    final LogLines log = LogLines.of("io.rdma4j.cm.UnservedDevices");

    private static ServerSocketChannel listen(SelectorProvider provider) throws IOException {
        return provider.openServerSocketChannel().bind(Transport.loopback(0));
    }

    private static boolean isOverRdma(SocketChannel channel) {
        return channel instanceof RdmaSocketChannel
                || (channel instanceof RuledSocketChannel ruled
                        && ruled.chosen() instanceof RdmaSocketChannel);
    }

    private static void exchange(SocketChannel one, SocketChannel other) throws IOException {
        assertThat(one.write(ByteBuffer.allocate(100))).isEqualTo(100);
        ByteBuffer received = ByteBuffer.allocate(100);
        while (received.hasRemaining()) {
            assertThat(other.read(received)).isPositive();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        // The rules of the server; those of the client; what the connection goes over.
        "rdma; rdma; true", "tcp; tcp; false", "auto; rdma; true", "auto; tcp; false",
        "auto; auto; true", "tcp; auto; false", "rdma; auto; true",
        "127.0.0.0/8=rdma,*=tcp; 127.0.0.0/8=rdma,*=tcp; true",
        "[::1]=rdma,*=tcp; 127.0.0.2=rdma,*=tcp; false"})
    void rulesOfBothSidesDecide(String ofServer, String ofClient, boolean isOverRdma)
            throws Exception {
        try (ServerSocketChannel listener = listen(new RuledSelectorProvider(ofServer));
                SocketChannel client = new RuledSelectorProvider(ofClient).openSocketChannel()) {
            assertThat(client.connect(listener.getLocalAddress())).isTrue();
            try (SocketChannel accepted = listener.accept()) {
                assertThat(isOverRdma(client)).isEqualTo(isOverRdma);
                assertThat(isOverRdma(accepted)).isEqualTo(isOverRdma);
                exchange(client, accepted);
                exchange(accepted, client);
                assertThat(accepted.getRemoteAddress()).isEqualTo(client.getLocalAddress());
                assertThat(client.getRemoteAddress()).isEqualTo(accepted.getLocalAddress());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void missingPeerIsRefusedByTheRule(boolean isBlocking) throws Exception {
        InetSocketAddress nobody = Transport.ROCE.unusedAddress();
        SelectorProvider provider = new RuledSelectorProvider("10.0.0.0/8=tcp,*=rdma");
        try (SocketChannel client = provider.openSocketChannel();
                Selector selector = provider.openSelector()) {
            client.configureBlocking(isBlocking);
            assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> {
                if (!client.connect(nobody)) {
                    client.register(selector, SelectionKey.OP_CONNECT);
                    assertThat(selector.select()).isOne();
                    client.finishConnect();
                }
            }).withMessageMatching("Connection refused.* \\(over RDMA, by the rule '\\*=rdma'\\)");
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void addressOfNobodyIsRefusedByTheRule() throws Exception {
        SelectorProvider provider = new RuledSelectorProvider("rdma");
        try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
            assertThatExceptionOfType(BindException.class)
                    .isThrownBy(() -> listener.bind(new InetSocketAddress("203.0.113.1", 7)))
                    .withMessageStartingWith("Cannot assign requested address")
                    .withMessageContaining("by the rule 'rdma'");
        }
    }

    /** Programs look for these words. */
    @Test
    void portInUseIsSaidInTheWordsOfTcp() throws Exception {
        SelectorProvider provider = new RuledSelectorProvider("rdma");
        try (ServerSocketChannel listener = listen(provider);
                ServerSocketChannel second = provider.openServerSocketChannel()) {
            assertThatExceptionOfType(BindException.class)
                    .isThrownBy(() -> second.bind(listener.getLocalAddress()))
                    .withMessageStartingWith("Address already in use: port ");
        }
    }

    @Test
    void missingPeerOfBothKindsIsRefusedOverTcp() throws Exception {
        InetSocketAddress nobody = Transport.TCP.unusedAddress();
        try (SocketChannel client = new RuledSelectorProvider("auto").openSocketChannel()) {
            assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> client.connect(nobody)).withMessage("Connection refused")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            assertThat(client.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void automaticServerTakesBothKinds(boolean isBlocking) throws Exception {
        SelectorProvider provider = new RuledSelectorProvider("auto");
        try (ServerSocketChannel listener = listen(provider);
                Selector selector = provider.openSelector();
                SocketChannel overTcp = JDK.openSocketChannel();
                SocketChannel overRdma = RdmaSockets.openSocketChannel()) {
            listener.configureBlocking(isBlocking);
            for (SocketChannel client : new SocketChannel[]{overTcp, overRdma, null}) {
                SocketChannel made = client == null ? JDK.openSocketChannel() : client;
                try (made) {
                    made.connect(listener.getLocalAddress());
                    if (!isBlocking) {
                        listener.register(selector, SelectionKey.OP_ACCEPT);
                        assertThat(selector.select(_ -> {})).isOne();
                    }
                    try (SocketChannel accepted = listener.accept()) {
                        assertThat(isOverRdma(accepted)).isEqualTo(overRdma.equals(client));
                        exchange(made, accepted);
                    }
                }
            }
        }
    }

    /** The port is TCP's, which an iWARP device would need. */
    @Test
    void automaticServerAtTheWildcardAddressDoesWithoutIwarp() throws Exception {
        try (ServerSocketChannel listener = new RuledSelectorProvider("auto")
                .openServerSocketChannel().bind(new InetSocketAddress(0));
                SocketChannel client = RdmaSockets.openSocketChannel()) {
            client.connect(Transport.loopback(
                    ((InetSocketAddress) listener.getLocalAddress()).getPort()));
            try (SocketChannel accepted = listener.accept()) {
                exchange(client, accepted);
            }
        }
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void portThatWasBoundFirstStays() throws Exception {
        try (ServerSocketChannel overRdma = listen(new RuledSelectorProvider("rdma"));
                ServerSocketChannel overTcp = listen(JDK)) {
            int port = ((InetSocketAddress) overRdma.getLocalAddress()).getPort();
            SelectorProvider mixed = new RuledSelectorProvider("*:" + port + "=rdma,*=tcp");
            for (ServerSocketChannel listener : new ServerSocketChannel[]{overRdma, overTcp}) {
                try (SocketChannel client = mixed.openSocketChannel()) {
                    client.bind(Transport.loopback(0));
                    Object bound = client.getLocalAddress();
                    client.connect(listener.getLocalAddress());
                    assertThat(isOverRdma(client)).isEqualTo(listener.equals(overRdma));
                    assertThat(client.getLocalAddress()).isEqualTo(bound);
                    try (SocketChannel accepted = listener.accept()) {
                        assertThat(accepted.getRemoteAddress()).isEqualTo(bound);
                    }
                }
            }
        }
    }

    /** The port stays bound while RDMA is tried, and is bound once more for TCP; also one of which the system gave the number. */
    @ParameterizedTest
    @CsvSource({"roce_lo, true, true", "roce_lo, true, false", "roce_lo, false, true",
        "iwarp_lo, true, false", "iwarp_lo, false, true"})
    void boundClientFallsBackToTcp(String device, boolean isBlocking, boolean isPortGiven)
            throws Exception {
        SelectorProvider provider = new RuledSelectorProvider("auto");
        try (ServerSocketChannel listener = listen(JDK);
                SocketChannel client = provider.openSocketChannel();
                Selector selector = provider.openSelector()) {
            client.setOption(RdmaSocketOptions.RDMA_DEVICE, device);
            client.bind(Transport.loopback(isPortGiven ? freePort() : 0));
            Object bound = client.getLocalAddress();
            client.configureBlocking(isBlocking);
            if (!client.connect(listener.getLocalAddress())) {
                assertThat(client.getLocalAddress()).isEqualTo(bound);
                client.register(selector, SelectionKey.OP_CONNECT);
                assertThat(selector.select()).isOne();
                assertThat(client.finishConnect()).isTrue();
                client.keyFor(selector).cancel();
                selector.selectNow();
                client.configureBlocking(true);
            }
            assertThat(isOverRdma(client)).isFalse();
            assertThat(client.getLocalAddress()).isEqualTo(bound);
            try (SocketChannel accepted = listener.accept()) {
                assertThat(accepted.getRemoteAddress()).isEqualTo(bound);
                exchange(client, accepted);
            }
        }
    }

    private static int freePort() throws IOException {
        return Transport.RULED_AUTO.unusedAddress().getPort();
    }

    @Test
    void boundClientSaysWhyItCouldNotConnectOverRdmaEither() throws Exception {
        try (SocketChannel client = new RuledSelectorProvider("auto").openSocketChannel()) {
            client.bind(Transport.loopback(0));
            assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> client.connect(Transport.TCP.unusedAddress()))
                    .withMessage("Connection refused")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            assertThat(client.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "auto"})
    void optionsAreKeptForTheDecision(String rules) throws Exception {
        SelectorProvider provider = new RuledSelectorProvider(rules);
        try (ServerSocketChannel listener = listen(provider);
                SocketChannel client = provider.openSocketChannel()) {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true)
                    .setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                    .setOption(StandardSocketOptions.SO_LINGER, 7);
            client.connect(listener.getLocalAddress());
            assertThat(client.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(client.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(client.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(7);
            listener.accept().close();
        }
    }

    @Test
    void socketOfAChannelIsItsOwn() throws Exception {
        SelectorProvider provider = new RuledSelectorProvider("tcp");
        try (ServerSocketChannel listener = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            listener.socket().bind(Transport.loopback(0), 5);
            Socket socket = client.socket();
            assertThat(socket.getChannel()).isSameAs(client);
            assertThat(socket.isConnected()).isFalse();
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(1);
            socket.connect(listener.getLocalAddress(), 5000);
            assertThat(socket.getTcpNoDelay()).isTrue();
            assertThat(socket.getPort()).isEqualTo(listener.socket().getLocalPort());
            listener.socket().setSoTimeout(5000);
            try (Socket accepted = listener.socket().accept()) {
                assertThat(accepted.getChannel()).isInstanceOf(RuledSocketChannel.class);
                assertThatExceptionOfType(java.net.SocketTimeoutException.class)
                        .isThrownBy(() -> socket.getInputStream().read());
                accepted.getOutputStream().write(9);
                socket.setSoTimeout(5000);
                assertThat(socket.getInputStream().read()).isEqualTo(9);
            }
            listener.socket().setSoTimeout(1);
            assertThatExceptionOfType(java.net.SocketTimeoutException.class)
                    .isThrownBy(() -> listener.socket().accept());
        }
    }

    /** TCP's part of the time has its limit. */
    @Test
    @Timeout(20)
    void timeOfConnectEndsAlsoWhereRdmaCannotBeTried() throws Exception {
        try (SilentPeer peer = SilentPeer.of(Transport.TCP);
                SocketChannel client = Transport.RULED_AUTO.open()
                        .setOption(RdmaSocketOptions.RDMA_DEVICE, "no_device")) {
            assertThatExceptionOfType(java.net.SocketTimeoutException.class)
                    .isThrownBy(() -> client.socket().connect(peer.address(), 300));
        }
    }

    @Test
    void channelsOfOtherFamiliesAreTheJdks(@org.junit.jupiter.api.io.TempDir Path directory)
            throws Exception {
        SelectorProvider provider = new RuledSelectorProvider("rdma");
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("socket"));
        try (ServerSocketChannel listener = provider
                .openServerSocketChannel(StandardProtocolFamily.UNIX).bind(address);
                SocketChannel client = provider.openSocketChannel(StandardProtocolFamily.UNIX)) {
            client.connect(address);
            try (SocketChannel accepted = listener.accept()) {
                exchange(client, accepted);
            }
        }
    }

    @Test
    void wrongRulesAreSaidAtOnce() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> new RuledSelectorProvider("*:80=rdma"))
                .withMessageStartingWith("no rule says what other addresses");
    }
}
