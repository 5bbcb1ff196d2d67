// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;

import java.util.concurrent.CompletableFuture;

/** Gives the only connection its handler and tells when it ends. */
final class Once extends ChannelInitializer<Channel> {
    private final ChannelHandler handler;
    private final CompletableFuture<Void> end;

    Once(ChannelHandler handler, CompletableFuture<Void> end) {
        this.handler = handler;
        this.end = end;
    }

    @Override
    protected void initChannel(Channel channel) {
        channel.pipeline().addLast(handler);
        channel.closeFuture().addListener(closed -> end.complete(null));
    }
}
