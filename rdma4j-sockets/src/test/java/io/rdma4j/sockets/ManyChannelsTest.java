// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Many connections and one selector. */
@Timeout(120)
class ManyChannelsTest {
    private static final int CONNECTIONS = 2_000;

    /** A selector accepts, echoes and connects, all in one thread. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void oneSelectorServesAll(Transport over) throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                ServerSocketChannel listener = small(over.openListener())) {
            listener.bind(Transport.loopback(0), CONNECTIONS);
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            int[] replies = {0};
            int[] started = {0};
            while (replies[0] < CONNECTIONS) {
                if (started[0] < CONNECTIONS && started[0] - replies[0] < 100) {
                    client(over, selector, listener, started[0]++);
                }
                int count = started[0] < CONNECTIONS && started[0] - replies[0] < 100
                        ? selector.selectNow()
                        : selector.select();
                assertThat(count).isEqualTo(selector.selectedKeys().size());
                for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys
                        .hasNext();) {
                    SelectionKey key = keys.next();
                    keys.remove();
                    replies[0] += serve(selector, key);
                }
            }
            assertThat(selector.keys()).hasSize(2 * CONNECTIONS + 1);
            List<SocketChannel> channels = new ArrayList<>();
            for (SelectionKey key : selector.keys()) {
                if (key.channel() instanceof SocketChannel channel) {
                    channels.add(channel);
                }
            }
            for (SocketChannel channel : channels) {
                channel.close();
            }
            selector.selectNow();
            assertThat(selector.keys()).hasSize(1);
        }
    }

    private static ServerSocketChannel small(ServerSocketChannel listener) throws IOException {
        return listener.setOption(RdmaSocketOptions.RDMA_SQSIZE, 16)
                .setOption(RdmaSocketOptions.RDMA_RQSIZE, 16)
                .setOption(java.net.StandardSocketOptions.SO_RCVBUF, 4096);
    }

    private static void client(Transport over, Selector selector, ServerSocketChannel listener,
            int number) throws IOException {
        SocketChannel client = over.open();
        client.setOption(RdmaSocketOptions.RDMA_SQSIZE, 16)
                .setOption(RdmaSocketOptions.RDMA_RQSIZE, 16)
                .setOption(java.net.StandardSocketOptions.SO_SNDBUF, 4096)
                .setOption(java.net.StandardSocketOptions.SO_RCVBUF, 4096);
        client.configureBlocking(false);
        // It may stand at once, if this thread was not running meanwhile.
        boolean isConnected = client.connect(listener.getLocalAddress());
        SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT, number);
        if (isConnected) {
            greet(key);
        }
    }

    private static void greet(SelectionKey key) throws IOException {
        ((SocketChannel) key.channel())
                .write(ByteBuffer.allocate(4).putInt(0, (Integer) key.attachment()));
        key.interestOps(SelectionKey.OP_READ);
    }

    /** {@return 1 if a client has its reply, 0 otherwise} */
    private static int serve(Selector selector, SelectionKey key) throws IOException {
        if (key.isAcceptable()) {
            SocketChannel accepted = ((ServerSocketChannel) key.channel()).accept();
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
            return 0;
        }
        SocketChannel channel = (SocketChannel) key.channel();
        if (key.isConnectable()) {
            assertThat(channel.finishConnect()).isTrue();
            greet(key);
            return 0;
        }
        ByteBuffer buffer = ByteBuffer.allocate(8);
        assertThat(channel.read(buffer)).isEqualTo(4);
        if (key.attachment() == null) {
            channel.write(buffer.flip());
            return 0;
        }
        assertThat(buffer.getInt(0)).isEqualTo((Integer) key.attachment());
        return 1;
    }

    /** A channel without a connection is as idle as any, and costs no queues. */
    private static List<SocketChannel> idle(Selector selector, int count) throws IOException {
        List<SocketChannel> channels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            SocketChannel channel = RdmaSockets.openSocketChannel();
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            channels.add(channel);
        }
        return channels;
    }

    /** A selection looks at no idle key: it takes as long with 10,000 of them as with 10. */
    @Test
    void idleKeysCostNothing() throws Exception {
        try (Selector few = RdmaSockets.openSelector();
                Selector many = RdmaSockets.openSelector()) {
            List<SocketChannel> channels = idle(few, 10);
            channels.addAll(idle(many, 10_000));
            long fewNs = Long.MAX_VALUE;
            long manyNs = Long.MAX_VALUE;
            // The least of many: other threads can only add to it.
            for (int i = 0; i < 3_000; i++) {
                fewNs = Math.min(fewNs, selectionNs(few));
                manyNs = Math.min(manyNs, selectionNs(many));
            }
            assertThat(manyNs).isLessThan(3 * fewNs + 2_000);
            for (SocketChannel channel : channels) {
                channel.close();
            }
        }
    }

    private static long selectionNs(Selector selector) throws IOException {
        long startNs = System.nanoTime();
        assertThat(selector.selectNow()).isZero();
        return System.nanoTime() - startNs;
    }

    /** Those that are always ready keep none from being seen. */
    @Test
    void readyKeysKeepNoOtherFromBeingSeen() throws Exception {
        Random random = new Random(5);
        try (Selector selector = RdmaSockets.openSelector();
                ServerSocketChannel listener = Transport.ROCE.listen()) {
            List<Connected> pairs = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Connected pair = Connected.with(Transport.ROCE, listener);
                pair.channel().configureBlocking(false);
                pair.channel().register(selector,
                        i == 0 ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
                pairs.add(pair);
            }
            for (int i = 0; i < 300; i++) {
                Connected pair = pairs.get(1 + random.nextInt(9));
                pair.peer().write(ByteBuffer.allocate(1));
                boolean isSeen = false;
                while (!isSeen) {
                    assertThat(selector.select()).isPositive();
                    isSeen = selector.selectedKeys()
                            .contains(pair.channel().keyFor(selector));
                    selector.selectedKeys().clear();
                }
                assertThat(pair.channel().read(ByteBuffer.allocate(9))).isOne();
            }
            for (Connected pair : pairs) {
                pair.close();
            }
        }
    }
}
