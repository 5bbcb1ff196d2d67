// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

/**
 * Whether the member of a multicast group receives from the group or only sends to it.
 *
 * <p>C: {@code enum} {@index rdma_cm_mc_join_flags}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum MulticastMembership {
    /** Sends to the group and receives from it. C: {@index RDMA_MC_JOIN_FLAG_FULLMEMBER}. */
    FULL_MEMBER,
    /**
     * Sends only: the queue pair is not attached. C: {@index RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}.
     */
    SEND_ONLY_FULL_MEMBER;
}
