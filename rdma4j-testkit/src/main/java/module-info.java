// SPDX-License-Identifier: Apache-2.0
/**
 * The conformance suite: what every device must do, whoever made it.
 *
 * <p>Read first: {@code DeviceUnderTest}, which a device's own tests implement, {@code QueuePairConformance}, some cases, and {@code
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

    opens io.rdma4j.testkit;
}
