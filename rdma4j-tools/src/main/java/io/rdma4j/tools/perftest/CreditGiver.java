// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

import java.util.Arrays;

/**
 * Sends the number of taken messages to the sender of each queue pair, three times in each round of its receives.
 */
final class CreditGiver {
    private static final long CREDIT = 1L << 61;
    private static final int SHARE = 3;

    private final TestSide side;
    private final Credits credits;
    private final int receives;
    private final long[] taken;
    private final int[] underWay;
    private final boolean[] isDue;

    /** @param receives how many a queue pair has posted at a time */
    CreditGiver(TestSide side, Credits credits, int queuePairs, int receives) {
        this.side = side;
        this.credits = credits;
        this.receives = receives;
        taken = new long[queuePairs];
        underWay = new int[queuePairs];
        isDue = new boolean[queuePairs];
    }

    /** {@return whether a completion is that of a credit} */
    static boolean isCredit(WorkCompletion completion) {
        return (completion.id() & CREDIT) != 0;
    }

    private static boolean isCreditDue(long taken, int receives) {
        return taken % receives % Math.max(1, receives / SHARE) == 0;
    }

    /** {@return the number in the last credit, at least, of so many messages} */
    static long lastCredit(long messages, int receives) {
        long last = messages;
        while (!isCreditDue(last, receives)) {
            last--;
        }
        return last;
    }

    /** A message was taken, and its receive posted again. */
    void onTaken(int index) throws RdmaException {
        if (isCreditDue(++taken[index], receives)) {
            isDue[index] = true;
            sendIfDue(index);
        }
    }

    private void sendIfDue(int index) throws RdmaException {
        if (isDue[index] && underWay[index] < Credits.DEPTH) {
            isDue[index] = false;
            underWay[index]++;
            side.queuePair(index).postSend(
                    side.credit(credits, index, taken[index]).id(CREDIT | index));
        }
    }

    /** A credit message has completed: the next one is sent if it is due. */
    void onCompletion(WorkCompletion completion) throws RdmaException {
        int index = (int) (completion.id() & ~CREDIT);
        underWay[index]--;
        sendIfDue(index);
    }

    /** {@return whether nothing is under way} */
    boolean isDone() {
        return Arrays.stream(underWay).allMatch(each -> each == 0);
    }
}
