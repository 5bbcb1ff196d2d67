// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.io.IOException;

/** The measurement, from the connection of both sides to their end. It can be repeated. */
@FunctionalInterface
interface TestFlow {
    /** Measures all sizes. */
    void measure(Session session) throws IOException;

    /** Ends it, as soon as the peer has finished too. */
    default void part(Session session) throws IOException {
        session.part();
    }
}
