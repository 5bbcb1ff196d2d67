package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.QueuePairType;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/**
 * The phase before the measurement: rounds of the same messages until the JVM has compiled their code. As the C
 * programs do with {@code --perform_warm_up}, but by default, and for all tests.
 */
enum WarmUp {
    /** No warm-up. */
    OFF("OFF"),
    /** Both sides have agreed to it. */
    TOGETHER("ON"),
    /** The peer takes no part in this test's messages, and does not know of the warm-up. */
    ALONE("ON, of this side");

    private static final long ROUND_BYTES = 1 << 24;
    private static final long MOST_MESSAGES = 512;

    private final String text;

    WarmUp(String text) {
        this.text = text;
    }

    /**
     * {@return the possible warm-up}
     *
     * @param isWanted whether this side wants it
     * @param isPeerReady whether the peer does, and can
     */
    static WarmUp of(Plan plan, boolean isWanted, boolean isPeerReady) {
        boolean isReliable = plan.type() == QueuePairType.RC;
        if (isWanted && isPeerReady) {
            return TOGETHER;
        }
        boolean isOneSided = plan.verb().isAnswered()
                || (plan.verb() == Verb.WRITE && !plan.isLatency());
        return isWanted && isReliable && isOneSided && plan.isClient() && !plan.isBothWays()
                ? ALONE
                : OFF;
    }

    /** {@return in words of the report} */
    String text() {
        return text;
    }

    /** Runs it, over queue pairs that are reliable. All messages have completed afterwards. */
    void run(Session session) throws IOException {
        if (this == OFF) {
            return;
        }
        List<Session> rounds = rounds(session);
        JitActivity jit = new JitActivity();
        int round = 0;
        boolean goesOn = true;
        while (goesOn) {
            Session next = rounds.get(round++ % rounds.size());
            jit.beginRound();
            if (this == TOGETHER) {
                TestFlow.of(next.plan()).measure(next);
            } else {
                measureAlone(next);
            }
            goesOn = jit.endRound();
            if (this == TOGETHER) {
                goesOn = session.channel().isWantedByEither(goesOn);
            }
        }
    }

    private static void measureAlone(Session round) throws IOException {
        if (round.plan().isLatency()) {
            new RequestLatency().measure(round);
        } else {
            new MessageStream(round, round.plan().longest()).run();
        }
    }

    /** {@return rounds of the shortest messages and of the longest} */
    private static List<Session> rounds(Session session) {
        Plan plan = session.plan();
        return Stream.of(plan.sizes().getFirst(), plan.longest()).distinct()
                .map(size -> session.quiet(plan.round(size, messages(plan, size)))).toList();
    }

    private static int messages(Plan plan, long size) {
        long count = Math.clamp(ROUND_BYTES / size / plan.queuePairs(), 1, MOST_MESSAGES);
        return (int) ((count + plan.list() - 1) / plan.list() * plan.list());
    }
}
