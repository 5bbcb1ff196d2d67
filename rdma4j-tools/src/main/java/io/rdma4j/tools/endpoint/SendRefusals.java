// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/** What the system of this host says of packets that were sent and never arrived. */
public final class SendRefusals {
    private SendRefusals() {}

    /**
     * {@return what is said of the first of some queue pairs of which anything is}
     *
     * @param otherwise what to say if nothing is
     */
    public static String text(List<QueuePair> queuePairs, String otherwise) {
        for (QueuePair each : queuePairs) {
            try {
                String refusal = each.sendRefusal();
                if (refusal != null) {
                    return refusal;
                }
            } catch (RdmaException failed) {
                // What has failed by itself is told by its completions.
            }
        }
        return otherwise;
    }
}
