// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Keeps the send queues of all queue pairs full, and measures.
 *
 * <p>The number of a request identifies its message and queue pair: a completion completes all messages up to its own.
 */
final class Sender {
    private static final int COUNT_BITS = 40;
    private static final long COUNTS = (1L << COUNT_BITS) - 1;

    private final TestSide side;
    private final Plan plan;
    private final TimeWindow window;
    private final List<List<SendWorkRequest>> requests = new ArrayList<>();
    private final long[] posted;
    private final long[] completed;
    private final @Nullable Credits credits;
    private final PeakTimes peak;
    private long startNs;
    private long endNs;
    private long totalPosted;
    private long totalCompleted;

    Sender(TestSide side, Plan plan, long size, TimeWindow window) {
        this.side = side;
        this.plan = plan;
        this.window = window;
        posted = new long[plan.queuePairs()];
        completed = new long[plan.queuePairs()];
        credits = side.credits();
        for (int i = 0; i < plan.queuePairs(); i++) {
            requests.add(list(i, size));
        }
        peak = new PeakTimes(plan.hasPeak() ? plan.iterations() * plan.queuePairs() : 0);
    }

    private List<SendWorkRequest> list(int index, long size) {
        List<SendWorkRequest> list = new ArrayList<>();
        for (int i = 0; i < plan.list(); i++) {
            list.add(side.request(index, size));
        }
        return list;
    }

    /**
     * Posts as many messages as fit.
     *
     * @return whether messages were held back for lack of credits, which arrive without a completion. Use this
     *         result: a later check also counts credits that have come since
     */
    boolean fill() throws RdmaException {
        boolean lacksCredits = false;
        for (int i = 0; i < posted.length; i++) {
            while (isMore(i) && posted[i] - completed[i] + plan.list() <= plan.sendDepth()) {
                if (!isCovered(i)) {
                    lacksCredits = true;
                    break;
                }
                post(i);
            }
        }
        return lacksCredits;
    }

    private boolean isCovered(int index) {
        Credits known = credits;
        return known == null
                || known.covers(index, posted[index] + plan.list(), plan.receiveDepth());
    }

    /** {@return whether messages wait for credits of the receiver} */
    boolean lacksCredits() {
        if (credits == null) {
            return false;
        }
        for (int i = 0; i < posted.length; i++) {
            if (isMore(i) && !isCovered(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean isMore(int index) {
        return window.isTimed() || posted[index] < plan.iterations();
    }

    private void post(int index) throws RdmaException {
        List<SendWorkRequest> list = requests.get(index);
        for (int i = 0; i < list.size(); i++) {
            long count = ++posted[index];
            list.get(i).id((long) index << COUNT_BITS | count).set(SendFlag.SIGNALED,
                    count % plan.moderation() == 0 || count == plan.iterations());
        }
        if (totalPosted == 0) {
            window.begin();
            startNs = System.nanoTime();
        }
        peak.onPosted(totalPosted);
        totalPosted += list.size();
        if (list.size() == 1) {
            side.queuePair(index).postSend(list.getFirst());
        } else {
            side.queuePair(index).postSend(list);
        }
    }

    void onCompletion(WorkCompletion completion) {
        int index = (int) (completion.id() >>> COUNT_BITS);
        long count = completion.id() & COUNTS;
        long more = count - completed[index];
        completed[index] = count;
        totalCompleted += more;
        peak.onCompleted(totalCompleted - 1);
        window.count(more);
        if (isDone()) {
            endNs = System.nanoTime();
        }
    }

    boolean isDone() {
        return !window.isTimed()
                && totalCompleted == (long) plan.iterations() * plan.queuePairs();
    }

    /** All messages have been sent. */
    void end() {
        if (credits != null && !window.isTimed()) {
            credits.sent(plan.iterations(), plan.receiveDepth());
        }
    }

    /** {@return what was measured, of messages of a size} */
    BandwidthResult result(long size, BandwidthUnit unit) {
        if (window.isTimed()) {
            return unit.result(size, window.counted(), window.countedNs(), 0);
        }
        return unit.result(size, totalCompleted, endNs - startNs, peak.shortestNs());
    }
}
