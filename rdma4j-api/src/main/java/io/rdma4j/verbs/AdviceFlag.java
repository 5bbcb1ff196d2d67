// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * How advice about memory is taken. A later version may add constants; a {@code switch} needs a {@code default}.
 *
 * <p>C: {@code enum ibv_advise_mr_flags}.
 *
 * @since 0.1.0
 */
public enum AdviceFlag {
    /** The call returns only when the advice has been followed. C: {@index IBV_ADVISE_MR_FLAG_FLUSH}. */
    FLUSH(1 << 0);

    private final int bit;

    AdviceFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
