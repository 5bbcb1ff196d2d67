// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.upper;

import io.rdma4j.structure.lower.Base;

/** Knows one below, and another beside it, in a circle. */
final class First {
    static final Base BELOW = Base.ONE;

    private final Second.Nested other;

    First(Second.Nested other) {
        this.other = other;
    }

    Second.Nested other() {
        return other;
    }
}
