// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.timing.WarmUpRounds;
import io.rdma4j.verbs.QueuePairType;

import java.io.IOException;
import java.math.BigInteger;

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
        if (this == TOGETHER) {
            together(session).play((number, messages) -> {
                Session next = round(session, number, messages);
                TestFlow.of(next.plan()).measure(next);
            });
        } else {
            Plan plan = session.plan();
            new WarmUpRounds(WarmUpRounds.Agreement.ALONE, kinds(plan), plan.queuePairs(),
                    plan.list()).play(
                            (number, messages) -> measureAlone(
                                    round(session, number, messages)));
        }
    }

    private static void measureAlone(Session round) throws IOException {
        if (round.plan().isLatency()) {
            new RequestLatency().measure(round);
        } else {
            new MessageStream(round, round.plan().longest()).run();
        }
    }

    /** {@return rounds with the peer; messages come in multiples of both sides' lists} */
    static WarmUpRounds together(Session session) throws IOException {
        Plan plan = session.plan();
        SideChannel channel = session.channel();
        if (plan.isSending() || plan.isReceiving()) {
            channel.stayAwake();
        }
        return new WarmUpRounds(channel::exchangeNumber, kinds(plan), plan.queuePairs(),
                commonMultiple(plan.list(), channel.exchangeNumber(plan.list())));
    }

    private static int commonMultiple(int own, long peers) throws IOException {
        if (peers < 1 || peers > Depths.LONGEST_LIST) {
            throw new IOException("the peer does not begin the warm-up that it has agreed to;"
                    + " both sides need the same tool and as many queue pairs (-q)");
        }
        long multiple = own / BigInteger.valueOf(own).gcd(BigInteger.valueOf(peers)).longValue()
                * peers;
        if (multiple > Depths.LONGEST_LIST) {
            throw new IOException("a warm-up of lists of " + own + " and of " + peers
                    + " sends takes too long: both sides need the same -l, or"
                    + " --no-perform_warm_up");
        }
        return (int) multiple;
    }

    /** Shortest and longest messages. */
    private static int kinds(Plan plan) {
        return plan.isAllSizes() ? 2 : 1;
    }

    /** {@return a round: of the shortest messages, then of the longest, and so on} */
    static Session round(Session session, int number, int messages) {
        Plan plan = session.plan();
        long size = number % 2 == 0 ? plan.sizes().getFirst() : plan.longest();
        return session.quiet(plan.round(size, messages));
    }
}
