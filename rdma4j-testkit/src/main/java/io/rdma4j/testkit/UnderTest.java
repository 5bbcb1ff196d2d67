// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.util.List;

/** The information about the tested device or wire. */
public interface UnderTest {
    /** {@return the run that the tests of this class are part of} */
    ConformanceRun run();

    /**
     * {@return all runs that the report shows, in its order; it is written when each of them has met all its
     * cases}
     */
    default List<ConformanceRun> reportedRuns() {
        return List.of(run());
    }
}
