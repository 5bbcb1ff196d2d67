package io.rdma4j.tools.perftest;

import io.rdma4j.tools.timing.WarmUpRounds;
import io.rdma4j.verbs.QueuePairType;

import java.io.IOException;

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
        WarmUpRounds.play(number -> {
            Session next = round(session, number);
            if (this == TOGETHER) {
                TestFlow.of(next.plan()).measure(next);
            } else {
                measureAlone(next);
            }
        }, this == TOGETHER
                ? session.channel()::isWantedByEither
                : WarmUpRounds.Agreement.ALONE);
    }

    private static void measureAlone(Session round) throws IOException {
        if (round.plan().isLatency()) {
            new RequestLatency().measure(round);
        } else {
            new MessageStream(round, round.plan().longest()).run();
        }
    }

    /** {@return a round: of the shortest messages, then of the longest, and so on} */
    static Session round(Session session, int number) {
        Plan plan = session.plan();
        long size = number % 2 == 0 ? plan.sizes().getFirst() : plan.longest();
        int count = WarmUpRounds.messages(number, size * plan.queuePairs());
        return session
                .quiet(plan.round(size, (count + plan.list() - 1) / plan.list() * plan.list()));
    }
}
