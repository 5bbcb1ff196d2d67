// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.SendRefusals;
import io.rdma4j.tools.timing.Backoff;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Duration;

/** Takes completions, by polling or by sleeping until they are announced; waits no longer than patience lasts. */
final class CompletionReader {
    private static final int BATCH = 16;
    private static final int POLLS_PER_LOOK_AT_THE_CLOCK = 64;

    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final TestSide side;
    private final Plan plan;
    private final Duration patience;
    private final @Nullable Losses losses;
    private final TimeWindow window;

    CompletionReader(Session session, TimeWindow window) throws RdmaException {
        side = session.side();
        plan = session.plan();
        patience = session.patience();
        losses = session.losses();
        this.window = window;
        if (side.channel() != null) {
            side.completions().requestNotification();
        }
    }

    /** {@return what {@link #take} took last} */
    WorkCompletion get(int index) {
        return batch[index];
    }

    /** {@return how many completions there were, without waiting} */
    int poll() throws IOException {
        int count = side.completions().poll(batch);
        for (int i = 0; i < count; i++) {
            requireSuccess(batch[i]);
        }
        return count;
    }

    /** {@return how many completions there were: at least one, or none because the time is over} */
    int take() throws IOException {
        int count = poll();
        if (count > 0) {
            return count;
        }
        CompletionChannel channel = side.channel();
        return channel == null ? spin() : sleep(channel);
    }

    private int sleep(CompletionChannel channel) throws IOException {
        while (true) {
            CompletionQueue announced = channel.pollEvent(patience);
            if (announced == null) {
                onSilence();
                return 0;
            }
            announced.acknowledgeEvents(1);
            announced.requestNotification();
            // What arrived before the request is not announced again, and may have been taken already.
            int count = poll();
            if (count > 0) {
                return count;
            }
        }
    }

    private int spin() throws IOException {
        long startNs = System.nanoTime();
        for (int polls = 1; !window.isOver(); polls++) {
            pause(polls, startNs);
            int count = poll();
            if (count > 0) {
                return count;
            }
        }
        return 0;
    }

    /**
     * Passes the time between two looks.
     *
     * @param looks how often was looked in vain
     * @param startNs since when
     */
    void pause(int looks, long startNs) throws IOException {
        Backoff.pause(looks);
        if (looks % POLLS_PER_LOOK_AT_THE_CLOCK == 0) {
            window.tick();
            if (System.nanoTime() - startNs > patience.toNanos()) {
                onSilence();
            }
        }
    }

    private void onSilence() throws IOException {
        Losses allowed = losses;
        if (allowed == null) {
            throw nothingComes();
        }
        allowed.note();
        window.giveUp();
    }

    private IOException nothingComes() {
        String advice = switch (plan.type()) {
            case UC, UD -> "a message was lost, or the peer ended: both sides need the same -n and"
                    + " -s";
            default -> "the peer ended or has less to say: both sides need the same -n and -s";
        };
        return new IOException("nothing came from the peer for " + patience.toSeconds() + " s; "
                + SendRefusals.text(side.queuePairs(), advice));
    }

    private static void requireSuccess(WorkCompletion completion) throws IOException {
        if (!completion.isSuccess()) {
            throw new IOException(String.format("Completion with error: status %s (%d): %s",
                    completion.status().text(), completion.status().code(),
                    completion.explanation()));
        }
    }
}
