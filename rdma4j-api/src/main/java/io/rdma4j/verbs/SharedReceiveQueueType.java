// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The kind of a shared receive queue.
 *
 * <p>C: {@code enum} {@index ibv_srq_type}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum SharedReceiveQueueType {
    /** Serves queue pairs of one protection domain. C: {@index IBV_SRQT_BASIC}. */
    BASIC,
    /** Extended reliable connections; native devices only. C: {@index IBV_SRQT_XRC}. */
    @Experimental
    XRC;
}
