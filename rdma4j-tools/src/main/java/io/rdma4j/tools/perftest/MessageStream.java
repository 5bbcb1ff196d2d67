// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.timing.Backoff;
import org.jspecify.annotations.Nullable;

import java.io.IOException;

/** Messages of one size in one direction or both, until all have arrived or the time is over. */
final class MessageStream {
    /** How long a credit may be on its way. A peer with another number of receives tells of other messages. */
    private static final long LAST_CREDIT_NS = 1_000_000_000;

    private final Session session;
    private final long size;
    private final TimeWindow window;
    private final CompletionReader completions;
    private final @Nullable Receiver receiver;
    private final @Nullable Sender sender;

    /** Posts receives, so that the peer may send as soon as both sides have met after it. */
    MessageStream(Session session, long size) throws IOException {
        this.session = session;
        this.size = size;
        Plan plan = session.plan();
        window = new TimeWindow(plan);
        completions = new CompletionReader(session, window);
        Credits credits = session.side().credits();
        if (credits != null) {
            awaitLast(credits);
            credits.reset();
        }
        receiver = plan.isReceiving() ? new Receiver(session.side(), plan, size, window) : null;
        sender = plan.isSending() ? new Sender(session.side(), plan, size, window) : null;
    }

    /** A credit of the messages before that came later would count for those of this stream. No request is outstanding meanwhile. */
    private void awaitLast(Credits credits) throws IOException {
        long startNs = System.nanoTime();
        for (int looks = 1; !credits.hasLast()
                && System.nanoTime() - startNs < LAST_CREDIT_NS; looks++) {
            Backoff.pause(looks);
            completions.poll();
        }
    }

    /** {@return what was measured} */
    BandwidthResult run() throws IOException {
        Sender sending = sender;
        Receiver receiving = receiver;
        while (isMore()) {
            int count = sending != null && mayBegin() && sending.fill()
                    ? takeOrAwaitCredits(sending)
                    : completions.take();
            for (int i = 0; i < count; i++) {
                if (receiving != null && Receiver.isReceive(completions.get(i))) {
                    receiving.onCompletion(completions.get(i));
                } else if (receiving != null && CreditGiver.isCredit(completions.get(i))) {
                    receiving.onCredit(completions.get(i));
                } else if (sending != null) {
                    sending.onCompletion(completions.get(i));
                }
            }
            if (window.isTimed()) {
                window.tick();
            }
        }
        BandwidthUnit unit = session.report().unit();
        if (sending != null) {
            sending.end();
            return sending.result(size, unit);
        }
        return receiving == null ? BandwidthResult.NONE : receiving.result(unit);
    }

    /** Credits appear in memory, and are no completion. {@return how many completions there were meanwhile} */
    private int takeOrAwaitCredits(Sender sending) throws IOException {
        long startNs = System.nanoTime();
        int count = completions.poll();
        for (int looks = 1; count == 0 && sending.lacksCredits() && !window.isOver(); looks++) {
            completions.pause(looks, startNs);
            count = completions.poll();
        }
        return count;
    }

    /** A server that sends as well begins when the client has begun. */
    private boolean mayBegin() {
        return receiver == null || session.plan().isClient() || receiver.received() > 0;
    }

    private boolean isMore() {
        return !window.isOver() && (window.isTimed() || isMoreToCome());
    }

    private boolean isMoreToCome() {
        return (sender != null && !sender.isDone())
                || (receiver != null && !receiver.isDone());
    }
}
