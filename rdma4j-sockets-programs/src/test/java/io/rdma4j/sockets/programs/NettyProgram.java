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
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;

import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Echo, a file and HTTP with Netty, the first and the last with TLS as well, as its examples have them. */
public final class NettyProgram {
    private static final int CONNECTIONS = 8;
    private static final int BYTES = 500_000;

    /** What begins the pipeline of a connection without TLS. */
    private static final Setup PLAIN = channel -> {};

    private NettyProgram() {}

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        try {
            echo(group, PLAIN, PLAIN);
            file(group);
            System.out.println("http " + http(group, PLAIN, PLAIN));
            TestCertificate certificate = TestCertificate.make();
            SslContext ofServer = SslContextBuilder.forServer(certificate.keys())
                    .sslProvider(SslProvider.JDK).build();
            SslContext ofClient = SslContextBuilder.forClient()
                    .trustManager(certificate.trusted()).sslProvider(SslProvider.JDK).build();
            Setup server = channel -> channel.pipeline()
                    .addLast(ofServer.newHandler(channel.alloc()));
            Setup client = channel -> channel.pipeline()
                    .addLast(ofClient.newHandler(channel.alloc(), "127.0.0.1", 0));
            echo(group, server, client);
            System.out.println("https " + http(group, server, client));
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

    private static ChannelInitializer<SocketChannel> with(Setup first, Setup then) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                first.run(channel);
                then.run(channel);
            }
        };
    }

    /** Completes when the bytes that are expected have come. */
    private static final class Comparing extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Void> done;
        private final ByteBuf left;

        Comparing(byte[] expected, CompletableFuture<Void> done) {
            left = Unpooled.wrappedBuffer(expected);
            this.done = done;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            if (!bytes.equals(left.readSlice(bytes.readableBytes()))) {
                done.completeExceptionally(new IllegalStateException("other bytes have come"));
            }
            bytes.release();
            if (!left.isReadable()) {
                done.complete(null);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }

    private static void echo(EventLoopGroup group, Setup ofServer, Setup ofClient)
            throws Exception {
        Channel server = listen(group, with(ofServer, channel -> channel.pipeline().addLast(
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
            byte[] bytes = SeededBytes.of(i, BYTES);
            Channel client = connect(group, port(server), with(ofClient,
                    channel -> channel.pipeline().addLast(new Comparing(bytes, answer))));
            clients.add(client);
            ChannelFuture _ = client.writeAndFlush(Unpooled.wrappedBuffer(bytes));
        }
        answers.forEach(CompletableFuture::join);
        for (Channel client : clients) {
            client.close().sync();
        }
        server.close().sync();
        System.out.println("echo done");
    }

    private static void file(EventLoopGroup group) throws Exception {
        byte[] bytes = SeededBytes.of(7, BYTES);
        Path file = Files.write(Files.createTempFile("netty", ".bin"), bytes);
        try {
            Channel server = listen(group, with(PLAIN, channel -> channel.pipeline().addLast(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            ChannelFuture _ = context.writeAndFlush(
                                    new DefaultFileRegion(new File(file.toString()), 0, BYTES));
                        }
                    })));
            CompletableFuture<Void> received = new CompletableFuture<>();
            Channel client = connect(group, port(server),
                    with(PLAIN, channel -> channel.pipeline()
                            .addLast(new Comparing(bytes, received))));
            received.join();
            client.close().sync();
            server.close().sync();
            System.out.println("file done");
        } finally {
            Files.delete(file);
        }
    }

    private static String http(EventLoopGroup group, Setup ofServer, Setup ofClient)
            throws Exception {
        Channel server = listen(group, with(ofServer, channel -> channel.pipeline().addLast(
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
        Channel client = connect(group, port(server),
                with(ofClient, channel -> channel.pipeline().addLast(
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
        String body = answer.join();
        client.close().sync();
        server.close().sync();
        return body;
    }
}
