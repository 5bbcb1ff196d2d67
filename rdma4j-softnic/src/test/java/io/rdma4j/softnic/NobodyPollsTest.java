// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

/** A side that posts, or makes and closes things, and never polls: what arrives for it is seen to all the same. */
class NobodyPollsTest {
    private static final long TURN_NS = 1_000_000;

    private final Pair pair = new Pair();

    NobodyPollsTest() throws Exception {}

    private interface Action {
        void run() throws RdmaException;
    }

    /** Lets the other side work as ever, and this one do nothing but its own. */
    private void takeTurns(Action action) throws RdmaException {
        for (int i = 0; i < 8; i++) {
            pair.a.node.poll();
            pair.simulation.network.advanceTo(pair.simulation.network.nowNs() + TURN_NS);
            action.run();
            pair.simulation.network.advanceTo(pair.simulation.network.nowNs() + TURN_NS);
        }
        pair.a.takeCompletions();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void whoeverChangesThingsReceivesAsWell() throws Exception {
        pair.a.write(1, 5000);
        takeTurns(() -> pair.b.node.context.createCompletionQueue(1).close());
    }

    @Test
    void whoeverPostsReceivesAsWell() throws Exception {
        pair.a.write(1, 5000);
        takeTurns(() -> pair.b.write(2, 8));
    }
}
