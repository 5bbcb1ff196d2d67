// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every method of a channel in every state it can have, blocking and not: channels over RDMA return and throw what those
 * over TCP do.
 */
class StateContractTest {
    private static final List<AutoCloseable> OPEN = new ArrayList<>();

    /** A channel in a state; what the peer has sent, "bc", has arrived if it is connected. */
    private interface State {
        SocketChannel channel(Transport transport, ServerSocketChannel listener)
                throws IOException;
    }

    /** What is done with it, and what can be seen of that. */
    private interface Method {
        Object call(SocketChannel channel) throws IOException;
    }

    /** An address of no kind that channels know. */
    private static final class OtherAddress extends SocketAddress {
        private static final long serialVersionUID = 1;
    }

    private static final Map<String, State> STATES = new LinkedHashMap<>();
    private static final Map<String, Method> METHODS = new LinkedHashMap<>();

    static {
        STATES.put("new", (transport, listener) -> keep(transport.open()));
        STATES.put("bound",
                (transport, listener) -> keep(transport.open()).bind(Transport.loopback(0)));
        STATES.put("connected", StateContractTest::connected);
        STATES.put("input shut",
                (transport, listener) -> connected(transport, listener).shutdownInput());
        STATES.put("output shut",
                (transport, listener) -> connected(transport, listener).shutdownOutput());
        STATES.put("both shut", (transport, listener) -> connected(transport, listener)
                .shutdownInput().shutdownOutput());
        STATES.put("closed", (transport, listener) -> closed(connected(transport, listener)));
        STATES.put("closed, never connected",
                (transport, listener) -> closed(transport.open()));

        METHODS.put("read", channel -> {
            ByteBuffer buffer = ByteBuffer.allocate(5);
            return channel.read(buffer) + " " + StandardCharsets.US_ASCII.decode(buffer.flip());
        });
        METHODS.put("read of one byte", channel -> channel.read(ByteBuffer.allocateDirect(1)));
        METHODS.put("read into no room", channel -> channel.read(ByteBuffer.allocate(0)));
        METHODS.put("read into null", channel -> channel.read((ByteBuffer) null));
        METHODS.put("read into a read-only buffer",
                channel -> channel.read(ByteBuffer.allocate(5).asReadOnlyBuffer()));
        METHODS.put("scattering read", channel -> {
            ByteBuffer[] buffers = {ByteBuffer.allocate(0), ByteBuffer.allocateDirect(1),
                ByteBuffer.allocate(9), ByteBuffer.allocate(9)};
            long count = channel.read(buffers, 0, 3);
            return count + " " + buffers[1].position() + " " + buffers[2].position() + " "
                    + buffers[3].position();
        });
        METHODS.put("scattering read into nothing",
                channel -> channel.read(new ByteBuffer[0]));
        METHODS.put("scattering read outside of the array",
                channel -> channel.read(new ByteBuffer[1], 1, 1));
        METHODS.put("write", channel -> {
            ByteBuffer buffer = ByteBuffer.wrap("12345".getBytes(StandardCharsets.US_ASCII));
            return channel.write(buffer) + " " + buffer.remaining();
        });
        METHODS.put("write of nothing", channel -> channel.write(ByteBuffer.allocate(0)));
        METHODS.put("write of null", channel -> channel.write((ByteBuffer) null));
        METHODS.put("write of a read-only buffer",
                channel -> channel.write(ByteBuffer.allocateDirect(3).asReadOnlyBuffer()));
        METHODS.put("gathering write", channel -> {
            ByteBuffer[] buffers = {ByteBuffer.allocate(2), ByteBuffer.allocate(0),
                ByteBuffer.allocateDirect(100), ByteBuffer.allocate(1)};
            return channel.write(buffers, 0, 3) + " " + buffers[2].remaining() + " "
                    + buffers[3].remaining();
        });
        METHODS.put("gathering write outside of the array",
                channel -> channel.write(new ByteBuffer[1], -1, 1));
        METHODS.put("bind", channel -> channel.bind(null).equals(channel));
        METHODS.put("bind to an address of another kind",
                channel -> channel.bind(new OtherAddress()));
        METHODS.put("bind to a name", channel -> channel
                .bind(InetSocketAddress.createUnresolved("nowhere.invalid", 0)));
        METHODS.put("connect to null", channel -> channel.connect(null));
        METHODS.put("connect to an address of another kind",
                channel -> channel.connect(new OtherAddress()));
        METHODS.put("connect to a name", channel -> channel
                .connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        METHODS.put("finishConnect", SocketChannel::finishConnect);
        METHODS.put("isConnected", SocketChannel::isConnected);
        METHODS.put("isConnectionPending", SocketChannel::isConnectionPending);
        METHODS.put("isOpen", SocketChannel::isOpen);
        METHODS.put("isRegistered", SocketChannel::isRegistered);
        METHODS.put("validOps", SocketChannel::validOps);
        METHODS.put("remote address",
                channel -> address((InetSocketAddress) channel.getRemoteAddress()));
        METHODS.put("local address",
                channel -> address((InetSocketAddress) channel.getLocalAddress()));
        METHODS.put("shutdownInput", channel -> channel.shutdownInput().equals(channel));
        METHODS.put("shutdownOutput", channel -> channel.shutdownOutput().equals(channel));
        METHODS.put("read after shutdownInput", channel -> {
            channel.shutdownInput();
            return channel.read(ByteBuffer.allocate(1));
        });
        METHODS.put("write after shutdownOutput", channel -> {
            channel.shutdownOutput();
            return channel.write(ByteBuffer.allocate(1));
        });
        METHODS.put("setOption", channel -> channel
                .setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                .setOption(StandardSocketOptions.TCP_NODELAY, true)
                .setOption(StandardSocketOptions.SO_REUSEADDR, false)
                .setOption(StandardSocketOptions.IP_TOS, 16)
                .setOption(StandardSocketOptions.SO_LINGER, 3)
                .getOption(StandardSocketOptions.SO_LINGER)
                + " " + channel.getOption(StandardSocketOptions.SO_KEEPALIVE) + " "
                + channel.getOption(StandardSocketOptions.TCP_NODELAY));
        METHODS.put("linger off", channel -> channel
                .setOption(StandardSocketOptions.SO_LINGER, -3)
                .getOption(StandardSocketOptions.SO_LINGER));
        METHODS.put("initial options",
                channel -> channel.getOption(StandardSocketOptions.SO_LINGER) + " "
                        + channel.getOption(StandardSocketOptions.SO_KEEPALIVE) + " "
                        + channel.getOption(StandardSocketOptions.IP_TOS) + " "
                        + (channel.getOption(StandardSocketOptions.SO_SNDBUF) > 0));
        METHODS.put("null option", channel -> channel.setOption(null, null));
        METHODS.put("null value",
                channel -> channel.setOption(StandardSocketOptions.SO_SNDBUF, null));
        METHODS.put("negative size",
                channel -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1));
        METHODS.put("option of datagrams", channel -> channel
                .setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true));
        METHODS.put("value of an option of datagrams",
                channel -> channel.getOption(StandardSocketOptions.IP_MULTICAST_LOOP));
        METHODS.put("value of a null option", channel -> channel.getOption(null));
        METHODS.put("close", channel -> {
            channel.close();
            channel.close();
            return channel.isOpen() + " " + channel.isConnected();
        });
        METHODS.put("configureBlocking",
                channel -> channel.configureBlocking(true).isBlocking());
    }

    private static String address(@Nullable InetSocketAddress address) {
        return address == null
                ? "none"
                : address.getAddress().isLoopbackAddress() + " " + (address.getPort() > 0);
    }

    private static SocketChannel keep(SocketChannel channel) {
        OPEN.add(channel);
        return channel;
    }

    private static SocketChannel closed(SocketChannel channel) throws IOException {
        channel.close();
        return channel;
    }

    private static SocketChannel connected(Transport transport, ServerSocketChannel listener)
            throws IOException {
        Connected pair = Connected.with(transport, listener);
        OPEN.add(pair);
        pair.peer().write(ByteBuffer.wrap("abc".getBytes(StandardCharsets.US_ASCII)));
        pair.channel().read(ByteBuffer.allocate(1));
        return pair.channel();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : OPEN) {
            each.close();
        }
        OPEN.clear();
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP", "RULED_TCP", "RULED_AUTO"})
    void channelsDoWhatThoseOverTcpDo(Transport transport) throws IOException {
        List<String> ours = seen(transport);
        List<String> theirs = seen(Transport.TCP);
        List<String> different = new ArrayList<>();
        for (int i = 0; i < theirs.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                different.add(ours.get(i) + "; TCP: " + theirs.get(i));
            }
        }
        assertThat(different).isEmpty();
        assertThat(ours).hasSameSizeAs(theirs);
    }

    private static List<String> seen(Transport transport) throws IOException {
        List<String> seen = new ArrayList<>();
        try (ServerSocketChannel listener = transport.listen()) {
            for (boolean isBlocking : new boolean[]{true, false}) {
                for (Map.Entry<String, State> state : STATES.entrySet()) {
                    each(transport, listener, isBlocking, state, seen::add);
                }
            }
        }
        return seen;
    }

    private static void each(Transport transport, ServerSocketChannel listener,
            boolean isBlocking, Map.Entry<String, State> state, Consumer<String> seen)
            throws IOException {
        for (Map.Entry<String, Method> method : METHODS.entrySet()) {
            SocketChannel channel = state.getValue().channel(transport, listener);
            if (channel.isOpen()) {
                channel.configureBlocking(isBlocking);
            }
            String name = (isBlocking ? "blocking, " : "") + state.getKey() + ", "
                    + method.getKey();
            seen.accept(name + ": " + outcome(channel, method.getValue()));
        }
    }

    private static Object outcome(SocketChannel channel, Method method) {
        try {
            return method.call(channel);
        } catch (IOException | RuntimeException e) {
            return e.getClass().getName() + (channel.isOpen() ? "" : ", closed");
        }
    }
}
