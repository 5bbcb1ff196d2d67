// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The kind of a memory window.
 *
 * <p>C: {@code enum} {@index ibv_mw_type}. Source: IBTA 10.6.7.2.
 *
 * @since 0.1.0
 */
public enum MemoryWindowType {
    /**
     * Bound by {@link QueuePair#bindMemoryWindow}; belongs to its protection domain. C: {@index IBV_MW_TYPE_1}.
     */
    TYPE_1(1),
    /** Bound by a work request; belongs to one queue pair. C: {@index IBV_MW_TYPE_2}. */
    TYPE_2(2);

    private final int code;

    MemoryWindowType(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
