// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.timing.WarmUpRounds;

import java.io.IOException;
import java.math.BigInteger;

/** The rounds of a session's warm-up, as its sides agree on them. */
final class SessionRounds {
    private SessionRounds() {}

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

    /** {@return rounds that the peer does not know of} */
    static WarmUpRounds alone(Session session) {
        Plan plan = session.plan();
        return new WarmUpRounds(WarmUpRounds.Agreement.ALONE, kinds(plan), plan.queuePairs(),
                plan.list());
    }

    /** Shortest and longest messages. */
    private static int kinds(Plan plan) {
        return plan.isAllSizes() ? 2 : 1;
    }
}
