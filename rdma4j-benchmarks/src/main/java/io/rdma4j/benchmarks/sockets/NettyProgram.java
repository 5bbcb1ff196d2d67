// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.LongAdder;

/** An echo of 64 bytes on each of 64 connections, one event loop a side. */
@SuppressWarnings("FutureReturnValueIgnored")
final class NettyProgram implements SocketProgram {
    private static final int BYTES = 64;
    private static final int CONNECTIONS = 64;

    private final boolean isEpoll;

    NettyProgram(boolean isEpoll) {
        this.isEpoll = isEpoll;
    }

    private EventLoopGroup group() {
        return isEpoll ? new EpollEventLoopGroup(1) : new NioEventLoopGroup(1);
    }

    @Override
    public int serve() throws InterruptedException {
        Channel listener = new ServerBootstrap().group(group())
                .channel(isEpoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Echo());
                    }
                }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync()
                .channel();
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    @Override
    public double drive(int port, Stretch stretch) throws InterruptedException {
        LongAdder rounds = new LongAdder();
        Bootstrap bootstrap = new Bootstrap().group(group())
                .channel(isEpoll ? EpollSocketChannel.class : NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Player(rounds));
                    }
                });
        for (int i = 0; i < CONNECTIONS; i++) {
            bootstrap.connect(InetAddress.getLoopbackAddress(), port).sync();
        }
        Thread.sleep(stretch.warmUpNs() / 1_000_000);
        long before = rounds.sum();
        long startNs = System.nanoTime();
        Thread.sleep(stretch.measureNs() / 1_000_000);
        return (rounds.sum() - before) * 1e9 / (System.nanoTime() - startNs);
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    private static final class Player extends ChannelInboundHandlerAdapter {
        private final LongAdder rounds;
        private final ByteBuf message = Unpooled.directBuffer(BYTES).writeZero(BYTES);
        private int missing = BYTES;

        Player(LongAdder rounds) {
            this.rounds = rounds;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object received) {
            ByteBuf bytes = (ByteBuf) received;
            missing -= bytes.readableBytes();
            bytes.release();
            if (missing == 0) {
                missing = BYTES;
                rounds.increment();
                send(context);
            }
        }

        private void send(ChannelHandlerContext context) {
            context.writeAndFlush(message.retainedDuplicate(), context.voidPromise());
        }
    }
}
