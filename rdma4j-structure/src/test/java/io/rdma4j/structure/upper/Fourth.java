// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.upper;

/** Is in a circle with another. */
final class Fourth {
    /** Nested. */
    static final class Nested {
        Third[] third = {};
    }

    private Fourth() {}
}
