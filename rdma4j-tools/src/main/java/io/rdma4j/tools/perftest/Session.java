// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Duration;

/**
 * Two connected sides that are about to measure.
 *
 * @param plan what to measure
 * @param side this side
 * @param channel the side channel to the other side
 * @param report the output of the results
 * @param patience how long to wait for a silent peer
 * @param losses where the end of the patience is noted; null if it is a failure
 */
record Session(Plan plan, TestSide side, SideChannel channel, TestReport report,
        Duration patience, @Nullable Losses losses) {
    /** Waits until the peer has reached the same point. */
    void meet() throws IOException {
        channel.exchange(side.first());
    }

    /** Ends it, as soon as the peer has finished too. */
    void part() throws IOException {
        channel.part(side.first());
    }

    /** {@return a session of the same sides with another plan and without output} */
    Session quiet(Plan other) {
        return new Session(other, side, channel, report.quiet(other), patience, losses);
    }

    /** {@return a round of the warm-up: of the shortest messages, then of the longest, and so on} */
    Session round(int number, int messages) {
        long size = number % 2 == 0 ? plan.sizes().getFirst() : plan.longest();
        return quiet(plan.round(size, messages));
    }

    /** {@return the same between other sides, over which messages may be lost} */
    Session between(TestSide other, Duration silence, Losses ofMessages) {
        return new Session(plan, other, channel, report, silence, ofMessages);
    }
}
