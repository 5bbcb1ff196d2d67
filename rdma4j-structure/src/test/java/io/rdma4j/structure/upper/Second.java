// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.upper;

/** Knows another in a circle, by what is nested in it. */
final class Second {
    /** Nested. */
    static final class Nested {
        First[] first = {};
    }

    private Second() {}
}
