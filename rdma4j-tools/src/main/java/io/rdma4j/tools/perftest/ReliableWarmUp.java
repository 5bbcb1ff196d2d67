// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.io.IOException;

/** The warm-up over queue pairs that are reliable, which the measurement uses afterwards. */
final class ReliableWarmUp {
    private ReliableWarmUp() {}

    /** Runs it. All messages have completed afterwards. */
    static void run(Session session, WarmUp warmUp) throws IOException {
        switch (warmUp) {
            case OFF -> {}
            case TOGETHER -> SessionRounds.together(session)
                    .play((number, messages) -> measure(session.round(number, messages)));
            case ALONE -> SessionRounds.alone(session)
                    .play((number, messages) -> measureAlone(session.round(number, messages)));
        }
    }

    private static void measure(Session round) throws IOException {
        FlowChoice.of(round.plan()).measure(round);
    }

    private static void measureAlone(Session round) throws IOException {
        if (round.plan().isLatency()) {
            new RequestLatency().measure(round);
        } else {
            new MessageStream(round, round.plan().longest()).run();
        }
    }
}
