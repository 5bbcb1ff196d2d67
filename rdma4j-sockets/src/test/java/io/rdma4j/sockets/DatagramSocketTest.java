// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Every method of a datagram socket in every state it can have, and threads that wait in one: sockets over RDMA, with a channel and without one, return and
 * throw what those over UDP do.
 */
@Timeout(60)
class DatagramSocketTest {
    enum Kind {
        /** The socket of a channel. */
        OF_CHANNEL,
        /** Without one. */
        ALONE;

        DatagramSocket open(boolean isOverRdma) throws IOException {
            if (!isOverRdma) {
                return this == ALONE
                        ? new DatagramSocket((SocketAddress) null)
                        : DatagramChannel.open(StandardProtocolFamily.INET).socket();
            }
            DatagramSocket made = this == ALONE
                    ? RdmaSockets.openDatagramSocket(StandardProtocolFamily.INET)
                    : RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET).socket();
            return made.setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo");
        }

        DatagramSocket bound(boolean isOverRdma) throws IOException {
            DatagramSocket made = open(isOverRdma);
            made.bind(Transport.loopback(0));
            return made;
        }
    }

    /** A socket in a state, and where a peer is bound. */
    private interface State {
        DatagramSocket socket(Kind kind, boolean isOverRdma, SocketAddress peer)
                throws IOException;
    }

    /** What is done with it, and what can be seen of that. */
    private interface Method {
        @Nullable
        Object call(DatagramSocket socket, SocketAddress peer) throws IOException;
    }

    /** An address of no kind that sockets know. */
    private static final class OtherAddress extends SocketAddress {
        private static final long serialVersionUID = 1;
    }

    private static final InetSocketAddress NAME = InetSocketAddress
            .createUnresolved("nowhere.invalid", 1);
    private static final Map<String, State> STATES = new LinkedHashMap<>();
    private static final Map<String, Method> METHODS = new LinkedHashMap<>();

    static {
        STATES.put("new", (kind, isOverRdma, peer) -> kind.open(isOverRdma));
        STATES.put("bound", (kind, isOverRdma, peer) -> kind.bound(isOverRdma));
        STATES.put("connected", (kind, isOverRdma, peer) -> connected(kind.bound(isOverRdma),
                peer));
        STATES.put("disconnected", (kind, isOverRdma, peer) -> {
            DatagramSocket made = connected(kind.bound(isOverRdma), peer);
            made.disconnect();
            return made;
        });
        STATES.put("closed", (kind, isOverRdma, peer) -> closed(kind.open(isOverRdma)));
        STATES.put("closed, once connected", (kind, isOverRdma, peer) -> closed(
                connected(kind.bound(isOverRdma), peer)));

        METHODS.put("send", (socket, peer) -> {
            socket.send(new DatagramPacket(new byte[9], 2, 5, peer));
            return "sent";
        });
        METHODS.put("send without an address", (socket, peer) -> {
            DatagramPacket packet = new DatagramPacket(new byte[9], 9);
            socket.send(packet);
            return peer.equals(packet.getSocketAddress());
        });
        METHODS.put("send to another", (socket, peer) -> {
            socket.send(new DatagramPacket(new byte[1], 1,
                    new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 9)));
            return "sent";
        });
        METHODS.put("send to IPv6", (socket, peer) -> {
            socket.send(new DatagramPacket(new byte[1], 1,
                    new InetSocketAddress(InetAddress.ofLiteral("::1"), 9)));
            return "sent";
        });
        METHODS.put("send of null", (socket, peer) -> {
            socket.send(null);
            return "sent";
        });
        METHODS.put("receive null", (socket, peer) -> {
            socket.receive(null);
            return "received";
        });
        METHODS.put("bind", (socket, peer) -> {
            socket.bind(null);
            return socket.isBound();
        });
        METHODS.put("bind to a port in use", (socket, peer) -> {
            socket.bind(peer);
            return socket.isBound();
        });
        METHODS.put("bind to a name", (socket, peer) -> {
            socket.bind(NAME);
            return socket.isBound();
        });
        METHODS.put("connect", (socket, peer) -> {
            socket.connect(peer);
            return socket.isConnected();
        });
        METHODS.put("connect to another", (socket, peer) -> {
            socket.connect(InetAddress.ofLiteral("127.0.0.1"), 9);
            return peer.equals(socket.getRemoteSocketAddress());
        });
        METHODS.put("connect to null", (socket, peer) -> {
            socket.connect(null);
            return "connected";
        });
        METHODS.put("connect to no address", (socket, peer) -> {
            socket.connect(null, 9);
            return "connected";
        });
        METHODS.put("connect to a wrong port", (socket, peer) -> {
            socket.connect(InetAddress.ofLiteral("127.0.0.1"), -1);
            return "connected";
        });
        METHODS.put("connect to a name", (socket, peer) -> {
            socket.connect(NAME);
            return "connected";
        });
        METHODS.put("connect to an address of another kind", (socket, peer) -> {
            socket.connect(new OtherAddress());
            return "connected";
        });
        METHODS.put("bind to an address of another kind", (socket, peer) -> {
            socket.bind(new OtherAddress());
            return "bound";
        });
        METHODS.put("connect to port 0", (socket, peer) -> {
            socket.connect(Transport.loopback(0));
            return "connected";
        });
        METHODS.put("connect to IPv6", (socket, peer) -> {
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral("::1"), 9));
            return "connected";
        });
        METHODS.put("disconnect", (socket, peer) -> {
            socket.disconnect();
            return socket.isConnected();
        });
        METHODS.put("what it is", (socket, peer) -> socket.isBound() + " " + socket.isConnected()
                + " " + socket.isClosed() + " " + (socket.getChannel() == null));
        METHODS.put("where it is", (socket, peer) -> (socket.getLocalPort() > 0) + " "
                + socket.getLocalAddress() + " " + (socket.getLocalSocketAddress() == null));
        METHODS.put("its peer", (socket, peer) -> peer.equals(socket.getRemoteSocketAddress())
                + " " + (socket.getPort() > 0) + " " + socket.getInetAddress());
        METHODS.put("options", (socket, peer) -> {
            socket.setReuseAddress(true);
            socket.setBroadcast(false);
            socket.setTrafficClass(8);
            socket.setSoTimeout(7);
            return socket.getReuseAddress() + " " + socket.getBroadcast() + " "
                    + socket.getTrafficClass() + " " + socket.getSoTimeout() + " "
                    + (socket.getSendBufferSize() > 0) + " " + (socket.getReceiveBufferSize() > 0);
        });
        METHODS.put("time of a receive", (socket, peer) -> socket.getSoTimeout());
        METHODS.put("a negative time", (socket, peer) -> {
            socket.setSoTimeout(-1);
            return "set";
        });
        METHODS.put("no send buffer", (socket, peer) -> {
            socket.setSendBufferSize(0);
            return "set";
        });
        METHODS.put("no receive buffer", (socket, peer) -> {
            socket.setReceiveBufferSize(-1);
            return "set";
        });
        METHODS.put("setOption", (socket, peer) -> socket
                .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                .getOption(StandardSocketOptions.SO_REUSEADDR));
        METHODS.put("option of streams",
                (socket, peer) -> socket.setOption(StandardSocketOptions.TCP_NODELAY, true));
        METHODS.put("close", (socket, peer) -> {
            socket.close();
            socket.close();
            return socket.isClosed();
        });
    }

    private final List<DatagramSocket> open = new ArrayList<>();

    private static DatagramSocket connected(DatagramSocket socket, SocketAddress peer)
            throws IOException {
        socket.connect(peer);
        return socket;
    }

    private static DatagramSocket closed(DatagramSocket socket) {
        socket.close();
        return socket;
    }

    @AfterEach
    void close() {
        open.forEach(DatagramSocket::close);
    }

    private List<String> seen(Kind kind, boolean isOverRdma) throws IOException {
        List<String> seen = new ArrayList<>();
        try (DatagramSocket peer = kind.bound(isOverRdma)) {
            SocketAddress to = peer.getLocalSocketAddress();
            for (Map.Entry<String, State> state : STATES.entrySet()) {
                for (Map.Entry<String, Method> method : METHODS.entrySet()) {
                    if (kind == Kind.ALONE && method.getKey().endsWith("IPv6")) {
                        // The JDK's has both families.
                        continue;
                    }
                    DatagramSocket socket = state.getValue().socket(kind, isOverRdma, to);
                    open.add(socket);
                    seen.add(state.getKey() + ", " + method.getKey() + ": "
                            + outcome(socket, method.getValue(), to));
                }
            }
        }
        return seen;
    }

    private static String outcome(DatagramSocket socket, Method method, SocketAddress peer) {
        try {
            return String.valueOf(method.call(socket, peer));
        } catch (IOException | RuntimeException e) {
            return e.getClass().getName();
        }
    }

    @ParameterizedTest
    @EnumSource
    void socketsDoWhatThoseOverUdpDo(Kind kind) throws IOException {
        assertThat(seen(kind, true)).containsExactlyElementsOf(seen(kind, false));
    }

    private static DatagramPacket packet(int length) {
        return new DatagramPacket(new byte[length], length);
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, true", "ALONE, true", "ALONE, false"})
    void packetIsReceivedIntoAgainAndAgain(Kind kind, boolean isOverRdma) throws IOException {
        try (DatagramSocket server = kind.bound(isOverRdma);
                DatagramSocket client = kind.bound(isOverRdma)) {
            client.connect(server.getLocalSocketAddress());
            byte[] array = new byte[60];
            DatagramPacket received = new DatagramPacket(array, 10, 40);
            for (int length : new int[]{5, 40, 50, 1, 30}) {
                DatagramPacket sent = packet(length);
                sent.getData()[length - 1] = (byte) length;
                client.send(sent);
                server.receive(received);
                assertThat(received.getLength()).isEqualTo(Math.min(length, 40));
                assertThat(received.getOffset()).isEqualTo(10);
                assertThat(received.getSocketAddress()).isEqualTo(client.getLocalSocketAddress());
                if (length <= 40) {
                    assertThat(array[9 + length]).isEqualTo((byte) length);
                }
            }
            // Less room, because the program says so.
            received.setLength(3);
            client.send(packet(20));
            server.receive(received);
            assertThat(received.getLength()).isEqualTo(3);
            received.setData(new byte[9]);
            client.send(packet(20));
            server.receive(received);
            assertThat(received.getLength()).isEqualTo(9);
        }
    }

    @Test
    void socketsExchangeDatagramsWithChannels() throws IOException {
        try (DatagramSocket server = Kind.ALONE.bound(true);
                RdmaDatagramChannel client = RdmaSockets.openDatagramChannel()) {
            client.setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                    .connect(server.getLocalSocketAddress());
            DatagramPacket got = packet(100);
            for (int i = 1; i < 300; i++) {
                client.write(ByteBuffer.wrap(new byte[]{(byte) i}));
                server.receive(got);
                assertThat(got.getData()[0]).isEqualTo((byte) i);
                server.send(got);
                ByteBuffer back = ByteBuffer.allocate(9);
                assertThat(client.read(back)).isOne();
                assertThat(back.get(0)).isEqualTo((byte) i);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void receiveTakesATime(Kind kind) throws IOException {
        try (DatagramSocket socket = kind.bound(true)) {
            socket.setSoTimeout(20);
            assertThatThrownBy(() -> socket.receive(packet(9)))
                    .isInstanceOf(SocketTimeoutException.class).hasMessage("Receive timed out");
            assertThat(socket.isClosed()).isFalse();
            socket.send(new DatagramPacket(new byte[4], 4, socket.getLocalSocketAddress()));
            DatagramPacket got = packet(9);
            socket.receive(got);
            assertThat(got.getLength()).isEqualTo(4);
        }
    }

    @Test
    void socketOfAChannelThatDoesNotBlockDoesNothing() throws IOException {
        try (RdmaDatagramChannel channel = RdmaSockets.openDatagramChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                .bind(Transport.loopback(0))) {
            channel.configureBlocking(false);
            DatagramSocket socket = channel.socket();
            assertThat(socket.getChannel()).isSameAs(channel);
            assertThat(channel.socket()).isSameAs(socket);
            assertThatThrownBy(() -> socket.receive(packet(1)))
                    .isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> socket.send(new DatagramPacket(new byte[1], 1,
                    Objects.requireNonNull(channel.getLocalAddress()))))
                    .isInstanceOf(IllegalBlockingModeException.class);
        }
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, false", "OF_CHANNEL, true", "ALONE, false", "ALONE, true"})
    void waitsEndAsOverUdp(Kind kind, boolean isVirtual) throws Exception {
        assertThat(waits(kind, true, isVirtual)).isEqualTo(waits(kind, false, isVirtual));
    }

    private static Object receive(DatagramSocket by) throws IOException {
        DatagramPacket got = packet(9);
        by.receive(got);
        return got.getLength();
    }

    private static List<String> waits(Kind kind, boolean isOverRdma, boolean isVirtual)
            throws Exception {
        List<String> seen = new ArrayList<>();
        DatagramSocket closing = kind.bound(isOverRdma);
        seen.add("closed: " + ThreadContractTest.outcome(isVirtual, () -> receive(closing),
                waiting -> closing.close()));
        try (DatagramSocket peer = kind.bound(isOverRdma);
                DatagramSocket socket = kind.bound(isOverRdma)) {
            DatagramPacket sent = new DatagramPacket(new byte[4], 4,
                    socket.getLocalSocketAddress());
            seen.add("a datagram comes: " + ThreadContractTest.outcome(isVirtual,
                    () -> receive(socket), waiting -> peer.send(sent)));
            socket.setSoTimeout(50_000);
            seen.add("a datagram comes in time: " + ThreadContractTest.outcome(isVirtual,
                    () -> receive(socket), waiting -> peer.send(sent)));
            socket.setSoTimeout(0);
            if (kind == Kind.ALONE && !isVirtual) {
                seen.add("interrupted, then a datagram comes: " + ThreadContractTest.outcome(false,
                        () -> {
                            Thread.currentThread().interrupt();
                            return receive(socket);
                        }, waiting -> peer.send(sent)));
            } else {
                seen.add("interrupted: " + ThreadContractTest.outcome(isVirtual,
                        () -> receive(socket), Thread::interrupt));
            }
            seen.add("closed: " + socket.isClosed());
        }
        return seen;
    }

    @Test
    void thereAreNoGroups() throws IOException {
        try (DatagramSocket socket = Kind.ALONE.bound(true)) {
            assertThatThrownBy(() -> socket.joinGroup(
                    new InetSocketAddress(InetAddress.ofLiteral("224.0.0.9"), 9), null))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage("datagrams of rsockets have no groups: use CmId.joinMulticast");
        }
    }
}
