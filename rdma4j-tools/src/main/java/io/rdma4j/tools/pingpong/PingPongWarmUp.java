package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.timing.WarmUpRounds;
import io.rdma4j.verbs.DeviceContext;

import java.io.Closeable;
import java.io.IOException;

/**
 * The phase before the exchange that is measured, between two Java sides. It has queue pairs of its own, so that those of
 * the exchange stay as they are.
 */
final class PingPongWarmUp implements WarmUpRounds.OwnSides<PingPongWarmUp.Played> {
    private static final long LONGEST_MESSAGE = 1 << 20;

    private final DeviceContext context;
    private final PingPongOptions options;
    private final AddressExchange channel;
    private final Traffic traffic;
    private final long timestampMask;

    /** A side and what is played over it. */
    record Played(PingPongSide side, PingPongLoop loop) implements Closeable {
        @Override
        public void close() throws IOException {
            side.close();
        }
    }

    private PingPongWarmUp(DeviceContext context, PingPongOptions options, Traffic traffic,
            AddressExchange channel) throws IOException {
        this.context = context;
        this.options = options;
        this.channel = channel;
        timestampMask = context.queryDeviceExtended().completionTimestampMask();
        // Sides whose messages differ fail later, in the words of the exchange itself.
        this.traffic = traffic.toWarmUp(
                channel.smallerOfBoth(Math.min(traffic.size(), LONGEST_MESSAGE)));
    }

    /** Runs it. Its objects are closed on both sides afterwards. */
    static void run(DeviceContext context, PingPongOptions options, Traffic traffic,
            AddressExchange channel) throws IOException {
        WarmUpRounds.play(new PingPongWarmUp(context, options, traffic, channel),
                channel::isWantedByEither);
        channel.meet();
    }

    @Override
    public Played create() throws IOException {
        PingPongSide side = new PingPongSide(context, options, traffic);
        PingPongLoop loop = new PingPongLoop(side, traffic, options,
                new ReceiveTimes(timestampMask));
        if (traffic.mayLose()) {
            loop.allowLosses(WarmUpRounds.SILENCE);
        }
        return new Played(side, loop);
    }

    @Override
    public void connect(Played played) throws IOException {
        played.loop().prepare();
        channel.exchange(played.side().told(), played.side()::connect);
    }

    /** At the end of a round, messages of other queue pairs are still on their way. */
    @Override
    public int roundsOfASide() {
        return traffic.queuePairs() > 1 ? 1 : WarmUpRounds.OwnSides.super.roundsOfASide();
    }

    @Override
    public boolean play(Played played, int number) throws IOException {
        return played.loop().play(channel.isClient(),
                WarmUpRounds.messages(number, traffic.size()));
    }
}
