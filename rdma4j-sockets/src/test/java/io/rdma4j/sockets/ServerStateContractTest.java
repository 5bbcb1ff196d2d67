// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import static org.assertj.core.api.Assertions.assertThat;

/** Every method of a server's channel in every state it can have, blocking and not: it returns and throws what one over TCP does. */
class ServerStateContractTest {
    private final StateTable<ServerSocketChannel> table = new StateTable<>();

    @BeforeEach
    void states() {
        table.state("new", (transport, _) -> table.keep(transport.openListener()));
        table.state("bound", (transport, _) -> bound(transport));
        table.state("somebody waits", (transport, _) -> {
            ServerSocketChannel channel = bound(transport);
            table.keep(transport.open()).connect(channel.getLocalAddress());
            awaitSomebody(transport, channel);
            return channel;
        });
        table.state("closed", (transport, _) -> closed(bound(transport)));
        table.state("closed, never bound", (transport, _) -> closed(transport.openListener()));
    }

    private ServerSocketChannel bound(Transport transport) throws IOException {
        return table.keep(transport.openListener()).bind(Transport.loopback(0), 5);
    }

    /** Over either transport the client may know that it is connected before the server does. */
    private static void awaitSomebody(Transport transport, ServerSocketChannel channel)
            throws IOException {
        try (Selector selector = transport.openSelector()) {
            channel.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            selector.select();
        }
        channel.configureBlocking(true);
    }

    private static ServerSocketChannel closed(ServerSocketChannel channel) throws IOException {
        channel.close();
        return channel;
    }

    @BeforeEach
    void methods() {
        table.method("accept without a wait", channel -> {
            channel.configureBlocking(false);
            return accepted(channel);
        });
        table.method("accept by an interrupted thread", channel -> {
            Thread.currentThread().interrupt();
            try {
                return channel.isBlocking() ? accepted(channel) : "not asked";
            } finally {
                boolean _ = Thread.interrupted();
            }
        });
        table.method("bind", channel -> channel.bind(null).equals(channel));
        table.method("bind with a negative backlog",
                channel -> channel.bind(Transport.loopback(0), -1).equals(channel));
        table.method("bind to an address of another kind",
                channel -> channel.bind(new StateTable.OtherAddress()));
        table.method("bind to a name", channel -> channel
                .bind(InetSocketAddress.createUnresolved("nowhere.invalid", 0)));
        table.method("bind to a port that is taken", channel -> {
            try (ServerSocketChannel other = channel.provider().openServerSocketChannel()) {
                other.bind(Transport.loopback(0));
                return channel.bind(other.getLocalAddress());
            }
        });
        table.method("local address", channel -> StateTable.address(channel.getLocalAddress()));
        table.method("isOpen", ServerSocketChannel::isOpen);
        table.method("isBlocking", ServerSocketChannel::isBlocking);
        table.method("isRegistered", ServerSocketChannel::isRegistered);
        table.method("validOps", ServerSocketChannel::validOps);
        table.method("register", channel -> registered(channel, SelectionKey.OP_ACCEPT));
        table.method("register for reading", channel -> registered(channel, SelectionKey.OP_READ));
        table.method("register without an interest", channel -> registered(channel, 0));
        table.method("setOption", channel -> channel
                .setOption(StandardSocketOptions.SO_RCVBUF, 65_536)
                .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                .getOption(StandardSocketOptions.SO_REUSEADDR));
        table.method("initial options",
                channel -> channel.getOption(StandardSocketOptions.SO_RCVBUF) > 0);
        table.method("null option", channel -> channel.setOption(null, null));
        table.method("null value",
                channel -> channel.setOption(StandardSocketOptions.SO_RCVBUF, null));
        table.method("negative size",
                channel -> channel.setOption(StandardSocketOptions.SO_RCVBUF, -1));
        table.method("option of connections",
                channel -> channel.setOption(StandardSocketOptions.TCP_NODELAY, true));
        table.method("value of an option of connections",
                channel -> channel.getOption(StandardSocketOptions.TCP_NODELAY));
        table.method("value of a null option", channel -> channel.getOption(null));
        table.method("socket", channel -> channel.socket().isBound() + " "
                + channel.socket().isClosed() + " "
                + channel.socket().getChannel().equals(channel) + " "
                + StateTable.address(channel.socket().getLocalSocketAddress()));
        table.method("close", channel -> {
            channel.close();
            channel.close();
            return channel.isOpen();
        });
        table.method("configureBlocking",
                channel -> channel.configureBlocking(true).isBlocking());
    }

    private static String accepted(ServerSocketChannel channel) throws IOException {
        try (SocketChannel accepted = channel.accept()) {
            return accepted == null
                    ? "nobody"
                    : accepted.isConnected() + " " + accepted.isBlocking();
        }
    }

    private static Object registered(ServerSocketChannel channel, int interest)
            throws IOException {
        try (Selector selector = channel.provider().openSelector()) {
            return channel.register(selector, interest).interestOps() + " "
                    + channel.isRegistered();
        }
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
