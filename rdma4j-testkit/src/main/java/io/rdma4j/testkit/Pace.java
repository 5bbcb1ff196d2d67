// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

/** What happens between two looks at a completion queue. */
@FunctionalInterface
interface Pace {
    /** Does it once. */
    void step();
}
