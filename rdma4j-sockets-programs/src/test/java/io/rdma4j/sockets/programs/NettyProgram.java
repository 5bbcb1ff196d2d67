// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Echo, a file and HTTP with Netty, as its examples have them. */
public final class NettyProgram {
    private static final int CONNECTIONS = 8;
    private static final int BYTES = 500_000;

    private NettyProgram() {}

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        try {
            echo(group);
            file(group);
            http(group);
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    private static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private static Channel listen(EventLoopGroup group, ChannelInitializer<SocketChannel> handler)
            throws InterruptedException {
        return new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 100)
                .childOption(ChannelOption.TCP_NODELAY, true).childHandler(handler)
                .bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    }

    private static Channel connect(EventLoopGroup group, int port,
            ChannelInitializer<SocketChannel> handler) throws InterruptedException {
        return new Bootstrap().group(group).channel(NioSocketChannel.class)
                .option(ChannelOption.SO_KEEPALIVE, true).handler(handler)
                .connect(InetAddress.getLoopbackAddress(), port).sync().channel();
    }

    private interface Setup {
        void run(SocketChannel channel);
    }

    private static ChannelInitializer<SocketChannel> with(Setup setup) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                setup.run(channel);
            }
        };
    }

    /** Completes when a number of bytes has come. */
    private static final class Counting extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Void> done;
        private int left;

        Counting(int count, CompletableFuture<Void> done) {
            left = count;
            this.done = done;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            left -= bytes.readableBytes();
            bytes.release();
            if (left == 0) {
                done.complete(null);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }

    private static void echo(EventLoopGroup group) throws Exception {
        Channel server = listen(group, with(channel -> channel.pipeline().addLast(
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        ChannelFuture _ = context.writeAndFlush(message);
                    }
                })));
        List<CompletableFuture<Void>> answers = new ArrayList<>();
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            CompletableFuture<Void> answer = new CompletableFuture<>();
            answers.add(answer);
            Channel client = connect(group, port(server),
                    with(channel -> channel.pipeline().addLast(new Counting(BYTES, answer))));
            clients.add(client);
            ChannelFuture _ = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[BYTES]));
        }
        answers.forEach(CompletableFuture::join);
        for (Channel client : clients) {
            client.close().sync();
        }
        server.close().sync();
        System.out.println("echo done");
    }

    private static void file(EventLoopGroup group) throws Exception {
        Path file = Files.write(Files.createTempFile("netty", ".bin"), new byte[BYTES]);
        try {
            Channel server = listen(group, with(channel -> channel.pipeline().addLast(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            ChannelFuture _ = context.writeAndFlush(
                                    new DefaultFileRegion(new File(file.toString()), 0, BYTES));
                        }
                    })));
            CompletableFuture<Void> received = new CompletableFuture<>();
            Channel client = connect(group, port(server),
                    with(channel -> channel.pipeline().addLast(new Counting(BYTES, received))));
            received.join();
            client.close().sync();
            server.close().sync();
            System.out.println("file done");
        } finally {
            Files.delete(file);
        }
    }

    private static void http(EventLoopGroup group) throws Exception {
        Channel server = listen(group, with(channel -> channel.pipeline().addLast(
                new HttpServerCodec(), new HttpObjectAggregator(BYTES),
                new SimpleChannelInboundHandler<FullHttpRequest>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context,
                            FullHttpRequest request) {
                        FullHttpResponse response = new DefaultFullHttpResponse(
                                HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                                Unpooled.wrappedBuffer(
                                        request.uri().getBytes(StandardCharsets.US_ASCII)));
                        response.headers().set(HttpHeaderNames.CONTENT_LENGTH,
                                response.content().readableBytes());
                        ChannelFuture _ = context.writeAndFlush(response);
                    }
                })));
        CompletableFuture<String> answer = new CompletableFuture<>();
        Channel client = connect(group, port(server), with(channel -> channel.pipeline().addLast(
                new HttpClientCodec(), new HttpObjectAggregator(BYTES),
                new SimpleChannelInboundHandler<FullHttpResponse>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context,
                            FullHttpResponse response) {
                        answer.complete(response.content()
                                .toString(StandardCharsets.US_ASCII));
                    }
                })));
        ChannelFuture _ = client
                .writeAndFlush(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET,
                        "/over/rdma"));
        System.out.println("http " + answer.join());
        client.close().sync();
        server.close().sync();
    }
}
