// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.io.IOException;

/** Bandwidth of one-sided operations: WRITE, READ, atomics. A server only waits, unless both directions are measured. */
final class Bandwidth implements TestFlow {
    @Override
    public void measure(Session session) throws IOException {
        if (session.plan().isSending()) {
            send(session);
        } else {
            session.meet();
            session.report().print(session.channel().exchange(BandwidthResult.NONE));
        }
    }

    private static void send(Session session) throws IOException {
        Plan plan = session.plan();
        BandwidthResult result = BandwidthResult.NONE;
        for (long size : plan.sizes()) {
            if (plan.isBothWays()) {
                session.meet();
            }
            result = new MessageStream(session, size).run();
            if (plan.isBothWays()) {
                if (plan.isAllSizes()) {
                    session.meet();
                }
                session.report().print(result.plus(session.channel().exchange(result)));
            } else {
                session.report().print(result);
            }
        }
        if (!plan.isBothWays()) {
            session.meet();
            session.channel().exchange(result);
        }
    }
}
