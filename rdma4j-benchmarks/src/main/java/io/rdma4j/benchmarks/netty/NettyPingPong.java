// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.util.function.IntConsumer;

/** Messages to and fro between two event loops; a failure ends the connection, and so both sides. */
@SuppressWarnings("FutureReturnValueIgnored")
public final class NettyPingPong implements PairedWorkload {
    /** Creates the workload. */
    public NettyPingPong() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws InterruptedException {
        try (NettySide side = new NettySide(settings.isPolling())) {
            side.serve(new Echo(), ready);
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws InterruptedException {
        try (NettySide side = new NettySide(settings.isPolling())) {
            Player player = new Player(settings);
            side.drive(player, port);
            return player.latencies.figures(0.5);
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message, context.voidPromise());
        }
    }

    private static final class Player extends ChannelInboundHandlerAdapter {
        private final Settings settings;
        private final Latencies latencies = new Latencies();
        private final Stretch stretch;
        private int missing;
        private long rounds;
        private long beforeNs;

        Player(Settings settings) {
            this.settings = settings;
            stretch = new Stretch(settings);
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            missing -= bytes.readableBytes();
            bytes.release();
            if (missing > 0) {
                return;
            }
            long nowNs = System.nanoTime();
            if (stretch.isCounting()) {
                latencies.add(nowNs - beforeNs);
            }
            if (stretch.goesOn(++rounds, nowNs)) {
                send(context);
            } else {
                context.close();
            }
        }

        private void send(ChannelHandlerContext context) {
            missing = settings.sizeBytes();
            beforeNs = System.nanoTime();
            context.writeAndFlush(context.alloc().ioBuffer(missing).writeZero(missing),
                    context.voidPromise());
        }
    }
}
