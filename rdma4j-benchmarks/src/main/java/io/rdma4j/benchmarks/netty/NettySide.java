// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.SelectStrategy;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** One event loop and one connection. */
final class NettySide implements AutoCloseable {
    private final EpollEventLoopGroup loop;

    /** @param isPolling whether the event loop asks again and again instead of sleeping */
    NettySide(boolean isPolling) {
        loop = isPolling
                ? new EpollEventLoopGroup(1, () -> (tasks, hasTasks) -> hasTasks
                        ? tasks.get()
                        : SelectStrategy.BUSY_WAIT)
                : new EpollEventLoopGroup(1);
    }

    /** Takes one connection and waits for its end. */
    void serve(ChannelHandler handler, IntConsumer ready) throws InterruptedException {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Channel listener = new ServerBootstrap().group(loop).channel(EpollServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new Once(handler, end))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        ready.accept(((InetSocketAddress) listener.localAddress()).getPort());
        end.join();
        listener.close().sync();
    }

    /** Connects and waits until the handler closes the connection. */
    void drive(ChannelHandler handler, int port) throws InterruptedException {
        new Bootstrap().group(loop).channel(EpollSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true).handler(handler)
                .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).sync()
                .channel().closeFuture().sync();
    }

    @Override
    public void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
