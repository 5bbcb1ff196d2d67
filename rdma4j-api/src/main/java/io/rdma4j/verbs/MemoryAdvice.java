// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What will be done with memory soon.
 *
 * <p>C: {@code enum} {@index ibv_advise_mr_advice}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum MemoryAdvice {
    /** It will be read: bring its pages in. C: {@index IBV_ADVISE_MR_ADVICE_PREFETCH}. */
    PREFETCH(0),
    /** It will be written: bring its pages in for writing. C: {@index IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE}. */
    PREFETCH_WRITE(1),
    /** Use what is there; bring nothing in. C: {@index IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT}. */
    PREFETCH_NO_FAULT(2);

    private final int code;

    MemoryAdvice(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
