// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.io.IOException;

/** Bandwidth of SEND: each side measures its own work. */
final class SendBandwidth implements TestFlow {
    @Override
    public void measure(Session session) throws IOException {
        Plan plan = session.plan();
        for (long size : plan.sizes()) {
            MessageStream stream = new MessageStream(session, size);
            session.meet();
            BandwidthResult result = stream.run();
            // A timed side has counted both directions.
            if (plan.isBothWays() && !plan.isTimed()) {
                result = result.plus(session.channel().exchange(result));
            }
            session.report().print(result);
            if (plan.isAllSizes()) {
                session.meet();
            }
        }
    }
}
