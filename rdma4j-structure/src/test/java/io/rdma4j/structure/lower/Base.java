// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.lower;

/** Knows nothing. */
public final class Base {
    /** Never changed. */
    public static final Base ONE = new Base();

    private Base() {}
}
