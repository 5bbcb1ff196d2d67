package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Keeps receives posted, exactly as many as messages will come, tells the sender of them where that is needed, and measures. */
final class Receiver {
    private static final long RECEIVE = 1L << 62;
    private static final long CREDIT = 1L << 61;
    /** Every how many of its receives the sender is told: three times in each round of them. */
    private static final int SHARE = 3;

    private final TestSide side;
    private final Plan plan;
    private final long size;
    private final TimeWindow window;
    private final List<ReceiveWorkRequest> requests = new ArrayList<>();
    private final long[] posted;
    private final @Nullable Credits credits;
    private final long[] taken;
    private final int[] creditsUnderWay;
    private final boolean[] isCreditDue;
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
        credits = side.credits();
        taken = new long[plan.queuePairs()];
        creditsUnderWay = new int[plan.queuePairs()];
        isCreditDue = new boolean[plan.queuePairs()];
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

    /** {@return whether a completion is that of a word to the sender} */
    static boolean isCredit(WorkCompletion completion) {
        return (completion.id() & CREDIT) != 0;
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
        if (isDone()) {
            endNs = System.nanoTime();
        }
        int index = (int) (completion.id() & ~RECEIVE);
        if (isMore(index)) {
            post(index);
        }
        tellSender(index);
    }

    private void tellSender(int index) throws RdmaException {
        Credits known = credits;
        if (known == null) {
            return;
        }
        long inRound = ++taken[index] % plan.receiveDepth();
        if (inRound % Math.max(1, plan.receiveDepth() / SHARE) == 0) {
            isCreditDue[index] = true;
            tellIfDue(known, index);
        }
    }

    private void tellIfDue(Credits known, int index) throws RdmaException {
        if (isCreditDue[index] && creditsUnderWay[index] < Credits.DEPTH) {
            isCreditDue[index] = false;
            creditsUnderWay[index]++;
            side.queuePair(index).postSend(
                    side.credit(known, index, taken[index]).id(CREDIT | index));
        }
    }

    /** The sender has been told. */
    void onCredit(WorkCompletion completion) throws RdmaException {
        int index = (int) (completion.id() & ~CREDIT);
        creditsUnderWay[index]--;
        Credits known = credits;
        if (known != null) {
            tellIfDue(known, index);
        }
    }

    /** {@return whether the sender has been told all that it is to be told} */
    boolean hasTold() {
        return Arrays.stream(creditsUnderWay).allMatch(each -> each == 0);
    }

    long received() {
        return received;
    }

    boolean isDone() {
        return !window.isTimed() && received == (long) plan.iterations() * plan.queuePairs();
    }

    /** {@return what was measured, from the first message on} */
    BandwidthResult result(BandwidthUnit unit) {
        return window.isTimed()
                ? unit.result(size, window.counted(), window.countedNs(), 0)
                : unit.result(size, received, endNs - startNs, 0);
    }
}
