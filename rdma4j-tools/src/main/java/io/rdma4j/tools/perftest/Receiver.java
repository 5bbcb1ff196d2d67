// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Keeps receives posted, exactly as many as messages will come, sends credits if they are needed, and measures. */
final class Receiver {
    private static final long RECEIVE = 1L << 62;

    private final TestSide side;
    private final Plan plan;
    private final long size;
    private final TimeWindow window;
    private final List<ReceiveWorkRequest> requests = new ArrayList<>();
    private final long[] posted;
    /** Null where the transport keeps the sender back. */
    private final @Nullable CreditGiver giver;
    private long received;
    private long startNs;
    private long endNs;

    /** Posts the first receives: the peer may send as soon as the sides have met after it. */
    Receiver(TestSide side, Plan plan, long size, TimeWindow window) throws RdmaException {
        this.side = side;
        this.plan = plan;
        this.size = size;
        this.window = window;
        posted = new long[plan.queuePairs()];
        Credits credits = side.credits();
        giver = credits == null ? null
                : new CreditGiver(side, credits, plan.queuePairs(), plan.receiveDepth());
        for (int i = 0; i < posted.length; i++) {
            requests.add(side.receive(i, size).id(RECEIVE | i));
            while (isMore(i) && posted[i] < plan.receiveDepth()) {
                post(i);
            }
        }
    }

    /** {@return whether a completion is that of a receive} */
    static boolean isReceive(WorkCompletion completion) {
        return (completion.id() & RECEIVE) != 0;
    }

    private boolean isMore(int index) {
        return window.isTimed() || posted[index] < plan.iterations();
    }

    private void post(int index) throws RdmaException {
        side.queuePair(index).postReceive(requests.get(index));
        posted[index]++;
    }

    void onCompletion(WorkCompletion completion) throws IOException {
        long length = completion.byteLength() - side.headerLength();
        if (length != size) {
            throw new IOException("the peer's messages have " + length + " bytes, those of this"
                    + " side " + size + "; both need the same -s");
        }
        if (received == 0) {
            window.begin();
            startNs = System.nanoTime();
        }
        received++;
        window.count(1);
        if (hasAll()) {
            endNs = System.nanoTime();
        }
        int index = (int) (completion.id() & ~RECEIVE);
        if (isMore(index)) {
            post(index);
        }
        CreditGiver known = giver;
        if (known != null) {
            known.onTaken(index);
        }
    }

    /** The sender has been told how far this side is. */
    void onCredit(WorkCompletion completion) throws RdmaException {
        CreditGiver known = giver;
        if (known != null) {
            known.onCompletion(completion);
        }
    }

    long received() {
        return received;
    }

    private boolean hasAll() {
        return !window.isTimed() && received == (long) plan.iterations() * plan.queuePairs();
    }

    /** {@return whether all has come, and the sender knows as much as it is to know} */
    boolean isDone() {
        return hasAll() && (giver == null || giver.isDone());
    }

    /** {@return what was measured, from the first message on} */
    BandwidthResult result(BandwidthUnit unit) {
        return window.isTimed()
                ? unit.result(size, window.counted(), window.countedNs(), 0)
                : unit.result(size, received, endNs - startNs, 0);
    }
}
