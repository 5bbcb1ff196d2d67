package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.time.Duration;

/**
 * Two sides that are connected and about to measure.
 *
 * @param plan what
 * @param side this side
 * @param channel the way to talk to the other
 * @param report where results go
 * @param patience how long to wait for a peer that says nothing
 */
record Session(Plan plan, TestSide side, SideChannel channel, TestReport report,
        Duration patience) {
    /** Waits until the peer has come as far. */
    void meet() throws IOException {
        channel.exchange(side.first());
    }

    /** Ends it, once the peer has come to its end, too. */
    void part() throws IOException {
        channel.part(side.first());
    }

    /** {@return a session of the same sides with another plan, whose results go nowhere} */
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
