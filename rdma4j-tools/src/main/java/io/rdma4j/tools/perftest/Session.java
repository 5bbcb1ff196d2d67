package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.RdmaException;

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
 */
record Session(Plan plan, TestSide side, SideChannel channel, TestReport report,
        Duration patience) {
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
        return new Session(other, side, channel, report.quiet(other), patience);
    }

    /** {@return the same, between other sides} */
    Session between(TestSide other) {
        return new Session(plan, other, channel, report, patience);
    }

    CompletionReader completions(TimeWindow window) throws RdmaException {
        return new CompletionReader(side, plan, patience, window);
    }
}
