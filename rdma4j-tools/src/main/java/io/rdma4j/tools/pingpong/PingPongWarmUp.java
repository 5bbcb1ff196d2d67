// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.timing.WarmUpRounds;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;

/**
 * The phase before the exchange that is measured, between two Java sides. It has queue pairs of its own, so that those of
 * the exchange stay as they are.
 */
final class PingPongWarmUp implements WarmUpRounds.Sides<PingPongWarmUp.Side> {
    private static final long LONGEST_MESSAGE = 1 << 20;

    private final LocalPort port;
    private final PingPongOptions options;
    private final AddressExchange channel;
    private final Traffic traffic;
    private final long timestampMask;

    /** The verbs' objects of a side, and the exchange over them. */
    record Side(PingPongSide objects, PingPongLoop loop) implements Closeable {
        @Override
        public void close() throws IOException {
            objects.close();
        }
    }

    private PingPongWarmUp(LocalPort port, PingPongOptions options, Traffic traffic,
            AddressExchange channel) throws IOException {
        this.port = port;
        this.options = options;
        this.channel = channel;
        timestampMask = port.context().queryDevice().completionTimestampMask();
        // Sides whose messages differ fail later, in the words of the exchange itself.
        long size = Math.min(traffic.size(), LONGEST_MESSAGE);
        this.traffic = traffic.toWarmUp(Math.clamp(channel.exchangeNumber(size), 0, size));
    }

    /** Runs it. Its objects are closed on both sides afterwards. */
    static void run(LocalPort port, PingPongOptions options, Traffic traffic,
            AddressExchange channel) throws IOException {
        channel.stayAwake();
        PingPongWarmUp warmUp = new PingPongWarmUp(port, options, traffic, channel);
        // Messages are counted together, not for each queue pair.
        new WarmUpRounds(channel::exchangeNumber, 1, 1, 1).play(warmUp, warmUp.traffic.size());
        channel.exchangeNumber(0);
    }

    @Override
    public Side create(Duration silence) throws IOException {
        PingPongSide objects = new PingPongSide(port, options, traffic);
        PingPongLoop loop = new PingPongLoop(objects, traffic, options,
                new ReceiveTimes(timestampMask));
        loop.warmUp(traffic.mayLose() ? silence : null);
        return new Side(objects, loop);
    }

    @Override
    public void connect(Side side) throws IOException {
        side.loop().prepare();
        channel.exchange(side.objects().sentAddresses(), side.objects()::connect);
    }

    /** At the end of a round, messages of other queue pairs are still on their way. */
    @Override
    public int roundsOfASide() {
        return traffic.queuePairs() > 1 ? 1 : WarmUpRounds.Sides.super.roundsOfASide();
    }

    @Override
    public boolean play(Side side, int number, int messages) throws IOException {
        return side.loop().play(channel.isClient(), messages);
    }
}
