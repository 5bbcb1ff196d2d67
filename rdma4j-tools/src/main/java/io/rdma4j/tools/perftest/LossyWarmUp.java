package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.timing.WarmUpRounds;

import java.io.Closeable;
import java.io.IOException;

/** The warm-up over a transport that may lose messages, with queue pairs of its own. */
final class LossyWarmUp implements WarmUpRounds.OwnSides<LossyWarmUp.Played> {
    private final Session session;
    private final LocalPort port;
    private final Plan plan;

    /** A side, the session over it, and what is lost of its messages. */
    record Played(TestSide side, Session session, Losses losses) implements Closeable {
        @Override
        public void close() throws IOException {
            side.close();
        }
    }

    private LossyWarmUp(Session session, LocalPort port) {
        this.session = session;
        this.port = port;
        plan = session.plan().toWarmUp();
    }

    /** Runs it between sides that have agreed to it. */
    static void run(Session session, LocalPort port) throws IOException {
        WarmUpRounds.play(new LossyWarmUp(session, port), session.channel()::isWantedByEither);
        session.meet();
    }

    @Override
    public Played create() throws IOException {
        TestSide side = new TestSide(port, null, plan, session.side().mtu(),
                session.channel().cycleBytes());
        Losses losses = new Losses();
        return new Played(side, session.between(side, losses).quiet(plan), losses);
    }

    @Override
    public void connect(Played played) throws IOException {
        TestSide side = played.side();
        side.connect(PerfTest.exchange(side, session.channel()));
        session.channel().exchange(side.first());
    }

    @Override
    public boolean play(Played played, int number) throws IOException {
        Session round = WarmUp.round(played.session(), number);
        TestFlow.of(round.plan()).measure(round);
        return !played.losses().isAny();
    }
}
