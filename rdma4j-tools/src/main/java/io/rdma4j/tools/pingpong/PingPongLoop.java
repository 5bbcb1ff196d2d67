// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.SendRefusals;
import io.rdma4j.tools.timing.Backoff;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;

/**
 * The exchange itself: each queue pair sends when its last send has completed and the peer has answered it.
 *
 * <p>Completions of all queue pairs are counted together, as the C programs count.
 */
final class PingPongLoop {
    private static final int BATCH = 16;
    private static final int POLLS_PER_LOOK_AT_THE_CLOCK = 64;

    private final PingPongSide side;
    private final Traffic traffic;
    private final PingPongOptions options;
    private final ReceiveTimes times;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    /** For each queue pair the identifiers it waits for; they are bits. */
    private final int[] pending;
    private Duration patience;
    private boolean isWarmUp;
    private boolean mayLose;
    private boolean isSilent;
    private boolean isClient;
    private int iterations;
    private int posted;
    private int sent;
    private int received;

    /** @param times takes the timestamps of receives, if they are wanted */
    PingPongLoop(PingPongSide side, Traffic traffic, PingPongOptions options, ReceiveTimes times) {
        this.side = side;
        this.traffic = traffic;
        this.options = options;
        this.times = times;
        patience = options.patience();
        pending = new int[traffic.queuePairs()];
    }

    /**
     * Plays for a warm-up from now on.
     *
     * @param silence when nothing has come for so long, a message was lost, which is no failure; null if none can be lost
     */
    void warmUp(@Nullable Duration silence) {
        isWarmUp = true;
        if (silence != null) {
            patience = silence;
            mayLose = true;
        }
    }

    /** Gets ready for a peer that may begin at any time. */
    void prepare() throws IOException {
        side.postReceives(options.receiveDepth());
        posted = options.receiveDepth();
        if (side.channel() != null) {
            side.completions().requestNotification();
        }
    }

    /**
     * Plays to the end; the client serves. It may be played again if there is one queue pair, because no message is on
     * its way then.
     *
     * @return whether everything came; if not, it cannot be played again
     */
    boolean play(boolean shallServe, int exchanges) throws IOException {
        isClient = shallServe;
        iterations = exchanges;
        sent = 0;
        received = 0;
        Arrays.fill(pending, PingPongSide.RECEIVE_ID);
        if (isClient) {
            for (int i = 0; i < pending.length; i++) {
                serve(i);
            }
        }
        while (!isSilent && (received < iterations || sent < iterations)) {
            awaitSomething();
        }
        return !isSilent;
    }

    private void serve(int index) throws IOException {
        side.postSend(index);
        pending[index] = PingPongSide.RECEIVE_ID | PingPongSide.SEND_ID;
    }

    // ---------------------------------------------------------------- waiting

    private void awaitSomething() throws IOException {
        CompletionChannel channel = side.channel();
        if (channel == null) {
            pollUntilSomething();
            return;
        }
        CompletionQueue announced = channel.pollEvent(patience);
        if (announced == null) {
            onSilence();
            return;
        }
        announced.acknowledgeEvents(1);
        announced.requestNotification();
        // All of it: what arrived before the request is not announced again.
        boolean isMore = true;
        while (isMore) {
            isMore = takeSome();
        }
    }

    private void pollUntilSomething() throws IOException {
        if (takeSome()) {
            return;
        }
        long startNs = System.nanoTime();
        for (int polls = 1; !isSilent && !takeSome(); polls++) {
            Backoff.pause(polls);
            if (polls % POLLS_PER_LOOK_AT_THE_CLOCK == 0
                    && System.nanoTime() - startNs > patience.toNanos()) {
                onSilence();
            }
        }
    }

    private void onSilence() throws IOException {
        if (!mayLose) {
            throw nothingComes();
        }
        isSilent = true;
    }

    private IOException nothingComes() {
        return new IOException("nothing came from the peer for " + patience.toSeconds()
                + " s, after " + received + " of " + iterations + " messages"
                + (isWarmUp ? " of the warm-up; " : "; ")
                + SendRefusals.text(side.queuePairs(), advice()));
    }

    private String advice() {
        return switch (traffic.type()) {
            case UC, UD -> "a message was lost or did not fit, or the peer ended:"
                    + " both sides need the same tool, -s and -n";
            default -> "the peer ended or has less to say: both sides need the same tool and -n";
        };
    }

    // ---------------------------------------------------------------- completions

    /** {@return whether there was any} */
    private boolean takeSome() throws IOException {
        if (traffic.has(Feature.TIMESTAMPS)) {
            return takeInPlace();
        }
        int count = side.completions().poll(batch);
        for (int i = 0; i < count; i++) {
            onCompletion(batch[i]);
        }
        return count > 0;
    }

    private boolean takeInPlace() throws IOException {
        ExtendedCompletionQueue queue = side.completions();
        if (!queue.startPoll()) {
            return false;
        }
        try {
            do {
                onCompletion(queue.current());
            } while (queue.nextPoll());
        } finally {
            queue.endPoll();
        }
        return true;
    }

    private void onCompletion(WorkCompletion completion) throws IOException {
        if (received >= iterations && sent >= iterations) {
            // The receives that are left, flushed behind a send that was not acknowledged.
            return;
        }
        if (completion.status() == WorkCompletionStatus.RETRY_EXCEEDED_ERROR
                && received >= iterations) {
            onNotAcknowledged();
            return;
        }
        Completions.requireSuccess(completion);
        int index = side.indexOf(completion.queuePairNumber());
        if (index < 0) {
            throw new IOException(
                    String.format("Couldn't find QPN %06x", completion.queuePairNumber()));
        }
        int id = (int) completion.id();
        if (id == PingPongSide.SEND_ID) {
            sent++;
        } else {
            onReceive(completion);
        }
        pending[index] &= ~id;
        if (sent < iterations && pending[index] == 0) {
            serve(index);
        }
    }

    /** A send failed after everything has come: the peer may have left, as a C program does when it has finished. */
    private void onNotAcknowledged() throws IOException {
        // Each queue pair has one message on its way at a time.
        boolean isLast = sent >= iterations - traffic.queuePairs();
        if (!isClient || !isLast) {
            throw new IOException("all " + received
                    + " messages came, but the last of this side was"
                    + " not acknowledged: the peer has left, as a C program does when it has finished,"
                    + " or never got it; what the peer says decides");
        }
        // Every answer has come, so every message has arrived.
        sent = iterations;
    }

    private void onReceive(WorkCompletion completion) throws IOException {
        received++;
        long length = completion.byteLength() - traffic.headerLength();
        if (length != traffic.size()) {
            throw new IOException("the peer's messages have " + length + " bytes, those of this"
                    + " side " + traffic.size() + "; both need the same -s");
        }
        times.onReceive(completion.completionTimestamp());
        if (--posted <= traffic.queuePairs()) {
            side.postReceives(options.receiveDepth() - posted);
            posted = options.receiveDepth();
        }
    }
}
