// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.util.function.IntConsumer;

/** As much as goes through between two event loops; a failure ends the connection, and so both sides. */
@SuppressWarnings("FutureReturnValueIgnored")
public final class NettyStream implements PairedWorkload {
    private static final int UNDER_WAY = 4;

    /** Creates the workload. */
    public NettyStream() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws InterruptedException {
        try (NettySide side = new NettySide(false)) {
            side.serve(new Sink(), ready);
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws InterruptedException {
        try (NettySide side = new NettySide(false)) {
            Source source = new Source(settings);
            side.drive(source, port);
            return new Figures().with(Quantity.BYTES_PER_SECOND,
                    source.stretch.perSecond() * settings.sizeBytes());
        }
    }

    /** Netty has copied the bytes from the system into its buffer. */
    private static final class Sink extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ((ByteBuf) message).release();
        }
    }

    private static final class Source extends ChannelInboundHandlerAdapter {
        private final Settings settings;
        private final Stretch stretch;
        private long written;

        Source(Settings settings) {
            this.settings = settings;
            stretch = new Stretch(settings);
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            int size = settings.sizeBytes();
            ByteBuf message = context.alloc().directBuffer(size).writeZero(size);
            for (int i = 0; i < UNDER_WAY; i++) {
                write(context, message);
            }
        }

        private void write(ChannelHandlerContext context, ByteBuf message) {
            context.writeAndFlush(message.retainedDuplicate()).addListener(done -> {
                if (!done.isSuccess()) {
                    context.close();
                } else if (stretch.goesOn(++written)) {
                    write(context, message);
                } else {
                    context.close();
                }
            });
        }
    }
}
