// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Every method of sockets in every state they can have, of those of channels and of those without: over RDMA they return and
 * throw what those over TCP do.
 */
@Timeout(120)
class SocketContractTest {
    private static final List<AutoCloseable> OPEN = new ArrayList<>();

    /** A socket in a state; what the peer has sent, "bc", has arrived if it is connected. */
    private interface State {
        Socket socket(SocketKind kind, Transport transport, ServerSocket listener)
                throws IOException;
    }

    /** What is done with it, and what can be seen of that. */
    private interface Method<T> {
        Object call(T socket) throws IOException;
    }

    /** An address of no kind that sockets know. */
    private static final class OtherAddress extends SocketAddress {
        private static final long serialVersionUID = 1;
    }

    private static final Map<String, State> STATES = new LinkedHashMap<>();
    private static final Map<String, Method<Socket>> METHODS = new LinkedHashMap<>();
    private static final Map<String, Method<ServerSocket>> SERVER_METHODS = new LinkedHashMap<>();

    private static Socket keep(Socket socket) {
        OPEN.add(socket);
        return socket;
    }

    private static Socket closed(Socket socket) throws IOException {
        socket.close();
        return socket;
    }

    private static Socket connected(SocketKind kind, Transport transport, ServerSocket listener)
            throws IOException {
        Socket socket = keep(kind.open(transport));
        socket.connect(listener.getLocalSocketAddress());
        Socket peer = keep(listener.accept());
        peer.getOutputStream().write(new byte[]{'a', 'b', 'c'});
        socket.getInputStream().read();
        return socket;
    }

    private static Socket shut(Socket socket, boolean input, boolean output) throws IOException {
        if (input) {
            socket.shutdownInput();
        }
        if (output) {
            socket.shutdownOutput();
        }
        return socket;
    }

    private static String of(InetAddress address) {
        return address == null
                ? "none"
                : address.isLoopbackAddress() + "/" + address.isAnyLocalAddress();
    }

    private static String of(SocketAddress address) {
        return address instanceof InetSocketAddress internet
                ? of(internet.getAddress()) + ":" + (internet.getPort() > 0)
                : "none";
    }

    static {
        STATES.put("new", (kind, transport, listener) -> keep(kind.open(transport)));
        STATES.put("bound", (kind, transport, listener) -> {
            Socket socket = keep(kind.open(transport));
            socket.bind(Transport.loopback(0));
            return socket;
        });
        STATES.put("connected", SocketContractTest::connected);
        STATES.put("input shut", (kind, transport,
                listener) -> shut(connected(kind, transport, listener), true, false));
        STATES.put("output shut", (kind, transport,
                listener) -> shut(connected(kind, transport, listener), false, true));
        STATES.put("both shut", (kind, transport,
                listener) -> shut(connected(kind, transport, listener), true, true));
        STATES.put("closed",
                (kind, transport, listener) -> closed(connected(kind, transport, listener)));
        STATES.put("closed, never connected",
                (kind, transport, listener) -> closed(kind.open(transport)));
        STATES.put("accepted", (kind, transport, listener) -> {
            Socket peer = keep(kind.open(transport));
            peer.connect(listener.getLocalSocketAddress());
            Socket socket = keep(listener.accept());
            peer.getOutputStream().write(new byte[]{'a', 'b', 'c'});
            socket.getInputStream().read();
            return socket;
        });

        METHODS.put("input", socket -> socket.getInputStream() != null);
        METHODS.put("output", socket -> socket.getOutputStream() != null);
        METHODS.put("read", socket -> {
            byte[] bytes = new byte[5];
            InputStream input = socket.getInputStream();
            return input.available() + " " + input.read(bytes, 1, 3) + " " + bytes[1] + bytes[2]
                    + bytes[3];
        });
        METHODS.put("read of nothing", socket -> socket.getInputStream().read(new byte[0]));
        METHODS.put("read outside", socket -> socket.getInputStream().read(new byte[3], 2, 2));
        METHODS.put("read of all there is, and timed out", socket -> {
            socket.setSoTimeout(20);
            InputStream input = socket.getInputStream();
            return input.read() + " " + input.read() + " " + input.read();
        });
        METHODS.put("write", socket -> {
            socket.getOutputStream().write(new byte[10], 2, 8);
            socket.getOutputStream().write(7);
            socket.getOutputStream().flush();
            return "written";
        });
        METHODS.put("write outside", socket -> {
            socket.getOutputStream().write(new byte[3], 2, 2);
            return "written";
        });
        METHODS.put("input, then shut", socket -> {
            InputStream input = socket.getInputStream();
            socket.shutdownInput();
            return input.read() + " " + input.available();
        });
        METHODS.put("closed by its input", socket -> {
            socket.getInputStream().close();
            return socket.isClosed();
        });
        METHODS.put("closed by its output", socket -> {
            socket.getOutputStream().close();
            return socket.isClosed();
        });
        METHODS.put("shutdownInput", socket -> {
            socket.shutdownInput();
            return socket.isInputShutdown();
        });
        METHODS.put("shutdownOutput", socket -> {
            socket.shutdownOutput();
            return socket.isOutputShutdown();
        });
        METHODS.put("what it is", socket -> socket.isBound() + " " + socket.isConnected() + " "
                + socket.isClosed() + " " + socket.isInputShutdown() + " "
                + socket.isOutputShutdown());
        METHODS.put("addresses",
                socket -> of(socket.getInetAddress()) + " " + of(socket.getLocalAddress()) + " "
                        + (socket.getPort() > 0) + " " + Integer.signum(socket.getLocalPort())
                        + " " + of(socket.getRemoteSocketAddress()) + " "
                        + of(socket.getLocalSocketAddress()));
        METHODS.put("text", socket -> socket.toString().replaceAll("[0-9]+", "N"));
        METHODS.put("bind", socket -> {
            socket.bind(null);
            return socket.isBound();
        });
        METHODS.put("bind to an address of another kind", socket -> {
            socket.bind(new OtherAddress());
            return socket.isBound();
        });
        METHODS.put("bind to a name", socket -> {
            socket.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 0));
            return socket.isBound();
        });
        METHODS.put("connect to null", socket -> {
            socket.connect(null);
            return socket.isConnected();
        });
        METHODS.put("connect to an address of another kind", socket -> {
            socket.connect(new OtherAddress(), 5);
            return socket.isConnected();
        });
        METHODS.put("connect to a name", socket -> {
            socket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1));
            return socket.isConnected();
        });
        METHODS.put("connect in negative time", socket -> {
            socket.connect(Transport.loopback(1), -1);
            return socket.isConnected();
        });
        METHODS.put("TCP_NODELAY", socket -> {
            socket.setTcpNoDelay(true);
            return socket.getTcpNoDelay();
        });
        METHODS.put("SO_LINGER", socket -> {
            int before = socket.getSoLinger();
            socket.setSoLinger(true, 3);
            int between = socket.getSoLinger();
            socket.setSoLinger(false, -1);
            return before + " " + between + " " + socket.getSoLinger();
        });
        METHODS.put("SO_LINGER, long", socket -> {
            socket.setSoLinger(true, 100_000);
            return socket.getSoLinger();
        });
        METHODS.put("SO_OOBINLINE", socket -> {
            boolean before = socket.getOOBInline();
            socket.setOOBInline(true);
            return before + " " + socket.getOOBInline();
        });
        METHODS.put("SO_TIMEOUT", socket -> {
            int before = socket.getSoTimeout();
            socket.setSoTimeout(77);
            return before + " " + socket.getSoTimeout();
        });
        METHODS.put("SO_TIMEOUT, negative", socket -> {
            socket.setSoTimeout(-1);
            return "set";
        });
        METHODS.put("sizes", socket -> {
            socket.setSendBufferSize(30_000);
            socket.setReceiveBufferSize(30_000);
            return (socket.getSendBufferSize() >= 30_000) + " "
                    + (socket.getReceiveBufferSize() >= 30_000);
        });
        METHODS.put("no size to send", socket -> {
            socket.setSendBufferSize(0);
            return "set";
        });
        METHODS.put("no size to receive", socket -> {
            socket.setReceiveBufferSize(0);
            return "set";
        });
        METHODS.put("SO_KEEPALIVE", socket -> {
            socket.setKeepAlive(true);
            return socket.getKeepAlive();
        });
        METHODS.put("IP_TOS", socket -> {
            socket.setTrafficClass(16);
            return socket.getTrafficClass();
        });
        METHODS.put("IP_TOS, too much", socket -> {
            socket.setTrafficClass(256);
            return "set";
        });
        METHODS.put("SO_REUSEADDR", socket -> {
            socket.setReuseAddress(true);
            return socket.getReuseAddress();
        });
        METHODS.put("an option", socket -> socket
                .setOption(StandardSocketOptions.SO_KEEPALIVE, true).equals(socket) + " "
                + socket.getOption(StandardSocketOptions.SO_KEEPALIVE));
        METHODS.put("an option of datagrams",
                socket -> socket.getOption(StandardSocketOptions.IP_MULTICAST_LOOP));
        METHODS.put("supported options", socket -> socket.supportedOptions()
                .contains(StandardSocketOptions.TCP_NODELAY));
        METHODS.put("channel", socket -> socket.getChannel() == null
                ? "none"
                : socket.getChannel().socket().equals(socket));
        METHODS.put("close", socket -> {
            socket.close();
            socket.close();
            return socket.isClosed() + " " + socket.isConnected() + " " + socket.isBound();
        });
        METHODS.put("read while the channel does not block", socket -> {
            SocketChannel channel = socket.getChannel();
            if (channel == null) {
                return "none";
            }
            channel.configureBlocking(false);
            return socket.getInputStream().read();
        });
        METHODS.put("write while the channel does not block", socket -> {
            SocketChannel channel = socket.getChannel();
            if (channel == null) {
                return "none";
            }
            channel.configureBlocking(false);
            socket.getOutputStream().write(1);
            return "written";
        });

        SERVER_METHODS.put("bind", socket -> {
            socket.bind(null);
            return socket.isBound();
        });
        SERVER_METHODS.put("bind to an address of another kind", socket -> {
            socket.bind(new OtherAddress());
            return socket.isBound();
        });
        SERVER_METHODS.put("bind to a name", socket -> {
            socket.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 0));
            return socket.isBound();
        });
        SERVER_METHODS.put("accept in time", socket -> {
            socket.setSoTimeout(10);
            return socket.accept();
        });
        SERVER_METHODS.put("SO_TIMEOUT", socket -> {
            int before = socket.getSoTimeout();
            socket.setSoTimeout(77);
            return before + " " + socket.getSoTimeout();
        });
        SERVER_METHODS.put("SO_TIMEOUT, negative", socket -> {
            socket.setSoTimeout(-1);
            return "set";
        });
        SERVER_METHODS.put("SO_REUSEADDR", socket -> {
            socket.setReuseAddress(false);
            return socket.getReuseAddress();
        });
        SERVER_METHODS.put("size", socket -> {
            socket.setReceiveBufferSize(30_000);
            return socket.getReceiveBufferSize() >= 30_000;
        });
        SERVER_METHODS.put("no size", socket -> {
            socket.setReceiveBufferSize(0);
            return "set";
        });
        SERVER_METHODS.put("addresses", socket -> of(socket.getInetAddress()) + " "
                + Integer.signum(socket.getLocalPort()) + " "
                + of(socket.getLocalSocketAddress()));
        SERVER_METHODS.put("what it is", socket -> socket.isBound() + " " + socket.isClosed());
        SERVER_METHODS.put("text", socket -> socket.toString().replaceAll("[0-9]+", "N"));
        SERVER_METHODS.put("an option of connections",
                socket -> socket.getOption(StandardSocketOptions.TCP_NODELAY));
        SERVER_METHODS.put("supported options", socket -> socket.supportedOptions()
                .contains(StandardSocketOptions.SO_RCVBUF));
        SERVER_METHODS.put("channel", socket -> socket.getChannel() == null
                ? "none"
                : socket.getChannel().socket().equals(socket));
        SERVER_METHODS.put("close", socket -> {
            socket.close();
            socket.close();
            return socket.isClosed() + " " + socket.isBound();
        });
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : OPEN) {
            each.close();
        }
        OPEN.clear();
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, ROCE", "ALONE, IWARP", "ALONE, RULED_RDMA", "ALONE, RULED_TCP",
        "ALONE, RULED_AUTO", "ALONE, RULED_FALLBACK"})
    void socketsDoWhatThoseOverTcpDo(SocketKind kind, Transport transport) throws IOException {
        compare(seen(kind, transport), seen(kind, Transport.TCP));
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, IWARP", "ALONE, ROCE", "ALONE, RULED_RDMA", "ALONE, RULED_TCP",
        "ALONE, RULED_AUTO"})
    void serverSocketsDoWhatThoseOverTcpDo(SocketKind kind, Transport transport)
            throws IOException {
        compare(seenOfListeners(kind, transport), seenOfListeners(kind, Transport.TCP));
    }

    private static void compare(List<String> ours, List<String> theirs) {
        List<String> different = new ArrayList<>();
        for (int i = 0; i < theirs.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                different.add(ours.get(i) + "; TCP: " + theirs.get(i));
            }
        }
        assertThat(different).isEmpty();
        assertThat(ours).hasSameSizeAs(theirs);
    }

    private static List<String> seen(SocketKind kind, Transport transport) throws IOException {
        List<String> seen = new ArrayList<>();
        try (ServerSocket listener = kind.listen(transport)) {
            for (Map.Entry<String, State> state : STATES.entrySet()) {
                for (Map.Entry<String, Method<Socket>> method : METHODS.entrySet()) {
                    Socket socket = state.getValue().socket(kind, transport, listener);
                    seen.add(state.getKey() + ", " + method.getKey() + ": "
                            + outcome(socket, socket.isClosed(), method.getValue()));
                }
            }
        }
        return seen;
    }

    private static List<String> seenOfListeners(SocketKind kind, Transport transport)
            throws IOException {
        List<String> seen = new ArrayList<>();
        for (String state : List.of("new", "bound", "closed", "bound and closed")) {
            for (Map.Entry<String, Method<ServerSocket>> method : SERVER_METHODS.entrySet()) {
                ServerSocket socket = state.startsWith("bound")
                        ? kind.listen(transport)
                        : kind.openListener(transport);
                OPEN.add(socket);
                if (state.endsWith("closed")) {
                    socket.close();
                }
                seen.add(state + ", " + method.getKey() + ": "
                        + outcome(socket, socket.isClosed(), method.getValue()));
            }
        }
        return seen;
    }

    private static <T extends AutoCloseable> Object outcome(T socket, boolean wasClosed,
            Method<T> method) {
        try {
            return method.call(socket);
        } catch (IOException | RuntimeException e) {
            boolean isClosed = socket instanceof Socket stream
                    ? stream.isClosed()
                    : ((ServerSocket) socket).isClosed();
            return e.getClass().getName() + (isClosed && !wasClosed ? ", closed" : "");
        }
    }

    @Test
    void socketsOfAFamilyTakeItsAddresses() throws Exception {
        InetSocketAddress ipv6 = new InetSocketAddress(InetAddress.ofLiteral("::1"), 7);
        try (ServerSocket listener = RdmaSockets.openServerSocket(StandardProtocolFamily.INET)
                .setOption(RdmaSocketOptions.RDMA_DEVICE, Transport.ROCE.device());
                Socket socket = RdmaSockets.openSocket(StandardProtocolFamily.INET)
                        .setOption(RdmaSocketOptions.RDMA_DEVICE, Transport.ROCE.device())) {
            assertThatThrownBy(() -> listener.bind(ipv6))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> socket.connect(ipv6))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            listener.bind(Transport.loopback(0));
            socket.connect(listener.getLocalSocketAddress());
            try (Socket accepted = listener.accept()) {
                accepted.getOutputStream().write(5);
                assertThat(socket.getInputStream().read()).isEqualTo(5);
            }
        }
        assertThatThrownBy(() -> RdmaSockets.openSocket(StandardProtocolFamily.UNIX))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> RdmaSockets.openServerSocket(StandardProtocolFamily.UNIX))
                .isInstanceOf(UnsupportedOperationException.class);
    }
}
