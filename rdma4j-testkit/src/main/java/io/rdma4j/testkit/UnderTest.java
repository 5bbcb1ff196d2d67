// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.time.Duration;
import java.util.List;

/** The information about the tested device or wire. */
public interface UnderTest {
    /** The maximum time of any step of a device; a test that waits this long has failed. */
    Duration LIMIT = Duration.ofSeconds(20);

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
