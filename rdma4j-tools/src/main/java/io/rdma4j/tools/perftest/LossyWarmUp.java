// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.timing.WarmUpRounds;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;

/** The warm-up over a transport that may lose messages, with queue pairs of its own. */
final class LossyWarmUp implements WarmUpRounds.Sides<LossyWarmUp.Side> {
    private final Session session;
    private final LocalPort port;
    private final Plan plan;

    /** The verbs' objects of a side, the session over them, and what is lost of its messages. */
    record Side(TestSide objects, Session session, Losses losses) implements Closeable {
        @Override
        public void close() throws IOException {
            objects.close();
        }
    }

    private LossyWarmUp(Session session, LocalPort port, int receives) {
        this.session = session;
        this.port = port;
        plan = session.plan().withReceives(receives);
    }

    /** Runs it between sides that have agreed to it. */
    static void run(Session session, LocalPort port) throws IOException {
        WarmUpRounds rounds = SessionRounds.together(session);
        rounds.play(new LossyWarmUp(session, port, rounds.most()), session.plan().longest());
        session.channel().watch(session.side()::arrived);
        session.meet();
    }

    @Override
    public Side create(Duration silence) throws IOException {
        TestSide objects = new TestSide(port, null, plan, session.side().mtu(),
                session.channel().cycleBytes());
        Losses losses = new Losses();
        return new Side(objects, session.between(objects, silence, losses).quiet(plan), losses);
    }

    @Override
    public void connect(Side side) throws IOException {
        TestSide objects = side.objects();
        SideChannel channel = session.channel();
        channel.watch(objects::arrived);
        objects.connect(channel.exchange(objects.endpoints()));
        channel.exchange(objects.first());
    }

    @Override
    public boolean play(Side side, int number, int messages) throws IOException {
        Session round = side.session().round(number, messages);
        FlowChoice.of(round.plan()).measure(round);
        return !side.losses().isAny();
    }
}
