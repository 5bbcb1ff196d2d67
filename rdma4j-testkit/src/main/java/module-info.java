// SPDX-License-Identifier: Apache-2.0
/**
 * The conformance suite: what every device must do, whoever made it; and a JUnit extension for tests of programs.
 *
 * <p>Read first: {@code junit.RdmaTest} for tests of a program; for those of a device {@code DeviceUnderTest}, which a device's own tests implement, {@code QueuePairConformance}, some cases, and {@code
 * ConformanceProfile}, which says who must pass them.
 */
module io.rdma4j.testkit {
    requires static org.jspecify;
    requires jdk.jfr;
    requires transitive java.logging;
    requires transitive io.rdma4j.api;
    requires transitive org.junit.jupiter.api;
    requires transitive org.assertj.core;

    exports io.rdma4j.testkit;
    exports io.rdma4j.testkit.junit;

    opens io.rdma4j.testkit;
}
