// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a FLUSH covers.
 *
 * <p>C: {@code enum} {@index ibv_selectivity_level}. Source: IBTA annex A19.
 *
 * @since 0.1.0
 */
public enum FlushSelectivity {
    /** The given range. C: {@index IBV_FLUSH_RANGE}. */
    RANGE(0),
    /** The whole region of the key. C: {@index IBV_FLUSH_MR}. */
    MEMORY_REGION(1);

    private final int code;

    FlushSelectivity(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this, which is that on the wire} */
    public int code() {
        return code;
    }
}
