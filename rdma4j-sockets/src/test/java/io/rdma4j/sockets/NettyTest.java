// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Netty, unchanged, with the provider of this module. */
@Timeout(60)
class NettyTest {
    private static final int CLIENTS = 16;
    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider();

    /** Sends back what comes. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Collects what comes back, until it is all. */
    private static final class Collector extends SimpleChannelInboundHandler<ByteBuf> {
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private final int expected;
        private final CompletableFuture<byte[]> all = new CompletableFuture<>();

        Collector(int expected) {
            this.expected = expected;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message)
                throws Exception {
            message.readBytes(received, message.readableBytes());
            if (received.size() >= expected) {
                all.complete(received.toByteArray());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            all.completeExceptionally(new AssertionError("closed after " + received.size()));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            all.completeExceptionally(cause);
        }
    }

    private static EventLoopGroup loops(int count) {
        return new MultiThreadIoEventLoopGroup(count, NioIoHandler.newFactory(PROVIDER));
    }

    private static Channel server(EventLoopGroup loops) throws InterruptedException {
        return new ServerBootstrap().group(loops)
                .channelFactory(() -> new NioServerSocketChannel(PROVIDER))
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(new ChannelInitializer<NioSocketChannel>() {
                    @Override
                    protected void initChannel(NioSocketChannel channel) {
                        channel.pipeline().addLast(new Echo());
                    }
                }).bind(Transport.loopback(0)).sync().channel();
    }

    private static Channel client(EventLoopGroup loops, Channel server, Collector collector)
            throws InterruptedException {
        return new Bootstrap().group(loops).channelFactory(() -> new NioSocketChannel(PROVIDER))
                .handler(collector).connect(server.localAddress()).sync().channel();
    }

    private static long sentBytes(DeviceContext device) throws RdmaException {
        return device.counters().getOrDefault("sent_bytes", 0L);
    }

    @Test
    void echo(@TempDir Path folder) throws Exception {
        // A device counts as long as it is open.
        try (DeviceContext device = RdmaDevices.find("roce_lo").open()) {
            long before = sentBytes(device);
            int bytes = echoOf(folder.resolve("file"));
            assertThat(sentBytes(device) - before).isGreaterThan(2L * CLIENTS * bytes);
        }
    }

    /** {@return how many bytes each client has sent and received} */
    private static int echoOf(Path file) throws Exception {
        byte[] bytes = new byte[1_000_000];
        new Random(1).nextBytes(bytes);
        Files.write(file, bytes);
        EventLoopGroup serving = loops(1);
        EventLoopGroup connecting = loops(1);
        try {
            Channel server = server(serving);
            List<Channel> clients = new ArrayList<>();
            List<Collector> collectors = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                collectors.add(new Collector(bytes.length));
                clients.add(client(connecting, server, collectors.getLast()));
            }
            for (int i = 0; i < CLIENTS; i++) {
                // One sends a file, the others pieces of any size.
                if (i == 0) {
                    var _ = clients.get(i).writeAndFlush(
                            new DefaultFileRegion(file.toFile(), 0, bytes.length));
                } else {
                    writePieces(clients.get(i), bytes, new Random(i));
                }
            }
            for (Collector each : collectors) {
                assertThat(each.all.get(50, TimeUnit.SECONDS)).isEqualTo(bytes);
            }
            for (Channel client : clients) {
                client.close().sync();
            }
            server.close().sync();
        } finally {
            connecting.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            serving.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
        return bytes.length;
    }

    private static void writePieces(Channel to, byte[] bytes, Random random) {
        for (int at = 0; at < bytes.length;) {
            int count = Math.min(bytes.length - at, 1 + random.nextInt(60_000));
            var _ = to.writeAndFlush(Unpooled.wrappedBuffer(bytes, at, count));
            at += count;
        }
    }
}
