// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every method of a channel in every state it can have, blocking and not: channels over RDMA return and throw what those
 * over TCP do.
 */
class StateContractTest {
    private final StateTable<SocketChannel> table = new StateTable<>();

    @BeforeEach
    void states() {
        table.state("new", (transport, listener) -> table.keep(transport.open()));
        table.state("bound",
                (transport, listener) -> table.keep(transport.open()).bind(Transport.loopback(0)));
        table.state("connected", this::connected);
        table.state("input shut",
                (transport, listener) -> connected(transport, listener).shutdownInput());
        table.state("output shut",
                (transport, listener) -> connected(transport, listener).shutdownOutput());
        table.state("both shut", (transport, listener) -> connected(transport, listener)
                .shutdownInput().shutdownOutput());
        table.state("output of the peer shut", (transport, listener) -> {
            Connected pair = sent(transport, listener);
            pair.peer().shutdownOutput();
            return pair.channel();
        });
        table.stateWithoutBlocking("connecting", (transport, _) -> {
            SilentPeer peer = table.keep(SilentPeer.of(transport));
            SocketChannel channel = table.keep(transport.open());
            channel.configureBlocking(false);
            channel.connect(peer.address());
            return channel;
        });
        table.state("closed", (transport, listener) -> closed(connected(transport, listener)));
        table.state("closed, never connected",
                (transport, listener) -> closed(transport.open()));

    }

    @BeforeEach
    void methods() {
        table.method("read", channel -> {
            ByteBuffer buffer = ByteBuffer.allocate(5);
            return channel.read(buffer) + " " + StandardCharsets.US_ASCII.decode(buffer.flip());
        });
        table.method("read of one byte", channel -> channel.read(ByteBuffer.allocateDirect(1)));
        table.method("read into no room", channel -> channel.read(ByteBuffer.allocate(0)));
        table.method("read into null", channel -> channel.read((ByteBuffer) null));
        table.method("read into a read-only buffer",
                channel -> channel.read(ByteBuffer.allocate(5).asReadOnlyBuffer()));
        table.method("scattering read", channel -> {
            ByteBuffer[] buffers = {ByteBuffer.allocate(0), ByteBuffer.allocateDirect(1),
                ByteBuffer.allocate(9), ByteBuffer.allocate(9)};
            long count = channel.read(buffers, 0, 3);
            return count + " " + buffers[1].position() + " " + buffers[2].position() + " "
                    + buffers[3].position();
        });
        table.method("scattering read into a buffer twice", channel -> {
            // The JDK's channels fail with one of the heap, after they have read.
            ByteBuffer twice = ByteBuffer.allocateDirect(1);
            ByteBuffer other = ByteBuffer.allocateDirect(9);
            long count = channel.read(new ByteBuffer[]{other, twice, twice}, 1, 2);
            return count + " " + other.position() + " " + twice.position() + " " + twice.get(0);
        });
        table.method("scattering read into nothing",
                channel -> channel.read(new ByteBuffer[0]));
        table.method("scattering read outside of the array",
                channel -> channel.read(new ByteBuffer[1], 1, 1));
        table.method("write", channel -> {
            ByteBuffer buffer = ByteBuffer.wrap("12345".getBytes(StandardCharsets.US_ASCII));
            return channel.write(buffer) + " " + buffer.remaining();
        });
        table.method("write of nothing", channel -> channel.write(ByteBuffer.allocate(0)));
        table.method("write of null", channel -> channel.write((ByteBuffer) null));
        table.method("write of a read-only buffer",
                channel -> channel.write(ByteBuffer.allocateDirect(3).asReadOnlyBuffer()));
        table.method("gathering write", channel -> {
            ByteBuffer[] buffers = {ByteBuffer.allocate(2), ByteBuffer.allocate(0),
                ByteBuffer.allocateDirect(100), ByteBuffer.allocate(1)};
            return channel.write(buffers, 0, 3) + " " + buffers[2].remaining() + " "
                    + buffers[3].remaining();
        });
        table.method("gathering write of a buffer twice", channel -> {
            ByteBuffer twice = ByteBuffer.allocate(2).position(1);
            ByteBuffer[] buffers = {twice, ByteBuffer.allocateDirect(100), twice};
            return channel.write(buffers) + " " + twice.position() + " " + buffers[1].remaining();
        });
        table.method("gathering write of many buffers, one of them twice", channel -> {
            ByteBuffer[] buffers = new ByteBuffer[40];
            Arrays.setAll(buffers, _ -> ByteBuffer.allocate(1));
            buffers[39] = buffers[7];
            return channel.write(buffers) + " " + buffers[7].position() + " "
                    + buffers[38].position();
        });
        table.method("gathering write outside of the array",
                channel -> channel.write(new ByteBuffer[1], -1, 1));
        table.method("bind", channel -> channel.bind(null).equals(channel));
        table.method("bind to an address of another kind",
                channel -> channel.bind(new StateTable.OtherAddress()));
        table.method("bind to a name", channel -> channel
                .bind(InetSocketAddress.createUnresolved("nowhere.invalid", 0)));
        table.method("connect to null", channel -> channel.connect(null));
        table.method("connect to an address of another kind",
                channel -> channel.connect(new StateTable.OtherAddress()));
        table.method("connect to a name", channel -> channel
                .connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        table.method("finishConnect", SocketChannel::finishConnect);
        table.method("isConnected", SocketChannel::isConnected);
        table.method("isConnectionPending", SocketChannel::isConnectionPending);
        table.method("isOpen", SocketChannel::isOpen);
        table.method("isRegistered", SocketChannel::isRegistered);
        table.method("validOps", SocketChannel::validOps);
        table.method("remote address",
                channel -> StateTable.address(channel.getRemoteAddress()));
        table.method("local address",
                channel -> StateTable.address(channel.getLocalAddress()));
        table.method("socket", channel -> channel.socket().isConnected() + " "
                + channel.socket().isClosed() + " "
                + StateTable.address(channel.socket().getRemoteSocketAddress()) + " "
                + (channel.socket().getInetAddress() != null) + " "
                + (channel.socket().getPort() > 0));
        table.method("shutdownInput", channel -> channel.shutdownInput().equals(channel));
        table.method("shutdownOutput", channel -> channel.shutdownOutput().equals(channel));
        table.method("read after shutdownInput", channel -> {
            channel.shutdownInput();
            return channel.read(ByteBuffer.allocate(1));
        });
        table.method("write after shutdownOutput", channel -> {
            channel.shutdownOutput();
            return channel.write(ByteBuffer.allocate(1));
        });
        table.method("setOption", channel -> channel
                .setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                .setOption(StandardSocketOptions.TCP_NODELAY, true)
                .setOption(StandardSocketOptions.SO_REUSEADDR, false)
                .setOption(StandardSocketOptions.IP_TOS, 16)
                .setOption(StandardSocketOptions.SO_LINGER, 3)
                .getOption(StandardSocketOptions.SO_LINGER)
                + " " + channel.getOption(StandardSocketOptions.SO_KEEPALIVE) + " "
                + channel.getOption(StandardSocketOptions.TCP_NODELAY));
        table.method("linger off", channel -> channel
                .setOption(StandardSocketOptions.SO_LINGER, -3)
                .getOption(StandardSocketOptions.SO_LINGER));
        table.method("initial options",
                channel -> channel.getOption(StandardSocketOptions.SO_LINGER) + " "
                        + channel.getOption(StandardSocketOptions.SO_KEEPALIVE) + " "
                        + channel.getOption(StandardSocketOptions.IP_TOS) + " "
                        + (channel.getOption(StandardSocketOptions.SO_SNDBUF) > 0));
        table.method("null option", channel -> channel.setOption(null, null));
        table.method("null value",
                channel -> channel.setOption(StandardSocketOptions.SO_SNDBUF, null));
        table.method("negative size",
                channel -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1));
        table.method("option of datagrams", channel -> channel
                .setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true));
        table.method("value of an option of datagrams",
                channel -> channel.getOption(StandardSocketOptions.IP_MULTICAST_LOOP));
        table.method("value of a null option", channel -> channel.getOption(null));
        table.method("close", channel -> {
            channel.close();
            channel.close();
            return channel.isOpen() + " " + channel.isConnected();
        });
        table.method("configureBlocking",
                channel -> channel.configureBlocking(true).isBlocking());
    }

    private static SocketChannel closed(SocketChannel channel) throws IOException {
        channel.close();
        return channel;
    }

    private SocketChannel connected(Transport transport, ServerSocketChannel listener)
            throws IOException {
        return sent(transport, listener).channel();
    }

    private Connected sent(Transport transport, ServerSocketChannel listener) throws IOException {
        Connected pair = table.keep(Connected.with(transport, listener));
        pair.peer().write(ByteBuffer.wrap("abc".getBytes(StandardCharsets.US_ASCII)));
        pair.channel().read(ByteBuffer.allocate(1));
        return pair;
    }

    @AfterEach
    void close() throws Exception {
        table.closeAll();
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP", "RULED_TCP", "RULED_AUTO"})
    void channelsDoWhatThoseOverTcpDo(Transport transport) throws IOException {
        assertThat(table.differences(transport)).isEmpty();
    }
}
