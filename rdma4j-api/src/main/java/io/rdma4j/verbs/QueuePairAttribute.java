// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * An attribute of a queue pair that {@link QueuePair#modify} can set.
 *
 * <p>C: {@code enum} {@index ibv_qp_attr_mask}; the C field's name appears in error messages.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum QueuePairAttribute {
    /** The state to move to. C: {@index IBV_QP_STATE}, {@code qp_state}. */
    STATE("state"),
    /**
     * The state the caller believes the queue pair is in. C: {@index IBV_QP_CUR_STATE}, {@code cur_qp_state}.
     */
    CURRENT_STATE("cur_state"),
    /**
     * Ask for an event when the send queue is drained. C: {@index IBV_QP_EN_SQD_ASYNC_NOTIFY},
     * {@code en_sqd_async_notify}.
     */
    ENABLE_SQD_ASYNC_NOTIFY("en_sqd_async_notify"),
    /**
     * What the peer may do through this queue pair. C: {@index IBV_QP_ACCESS_FLAGS}, {@code qp_access_flags}.
     */
    ACCESS_FLAGS("qp_access_flags"),
    /** The P_Key, by its index in the port's table. C: {@index IBV_QP_PKEY_INDEX}, {@code pkey_index}. */
    PKEY_INDEX("pkey_index"),
    /** The port, from 1. C: {@index IBV_QP_PORT}, {@code port_num}. */
    PORT("port_num"),
    /** The Q_Key of a datagram queue pair. C: {@index IBV_QP_QKEY}, {@code qkey}. */
    QKEY("qkey"),
    /** The path to the peer. C: {@index IBV_QP_AV}, {@code ah_attr}. */
    ADDRESS_VECTOR("ah_attr"),
    /** Payload bytes of a full packet. C: {@index IBV_QP_PATH_MTU}, {@code path_mtu}. */
    PATH_MTU("path_mtu"),
    /**
     * Wait for an acknowledgement: 4.096 us times 2 to this power; 0 means no time-out. C: {@index IBV_QP_TIMEOUT},
     * {@code timeout}.
     */
    TIMEOUT("timeout"),
    /** Retries before giving up, 0 to 7. C: {@index IBV_QP_RETRY_CNT}, {@code retry_cnt}. */
    RETRY_COUNT("retry_cnt"),
    /**
     * Retries while the peer has no receive posted, 0 to 6; 7 means without limit. C: {@index IBV_QP_RNR_RETRY},
     * {@code rnr_retry}.
     */
    RNR_RETRY("rnr_retry"),
    /** The first PSN expected from the peer. C: {@index IBV_QP_RQ_PSN}, {@code rq_psn}. */
    RECEIVE_PSN("rq_psn"),
    /**
     * READs and atomics this side may have outstanding. C: {@index IBV_QP_MAX_QP_RD_ATOMIC},
     * {@code max_rd_atomic}.
     */
    MAX_READ_ATOMIC("max_rd_atomic"),
    /** The alternate path. C: {@index IBV_QP_ALT_PATH}, {@code alt_ah_attr}. */
    ALTERNATE_PATH("alt_ah_attr"),
    /**
     * The wait this side asks of a peer that finds no receive posted: a code from 0 to 31. C:
     * {@index IBV_QP_MIN_RNR_TIMER}, {@code min_rnr_timer}.
     */
    MIN_RNR_TIMER("min_rnr_timer"),
    /** The first PSN this side sends. C: {@index IBV_QP_SQ_PSN}, {@code sq_psn}. */
    SEND_PSN("sq_psn"),
    /**
     * READs and atomics of the peer this side can hold. C: {@index IBV_QP_MAX_DEST_RD_ATOMIC},
     * {@code max_dest_rd_atomic}.
     */
    MAX_DESTINATION_READ_ATOMIC("max_dest_rd_atomic"),
    /** The state of path migration. C: {@index IBV_QP_PATH_MIG_STATE}, {@code path_mig_state}. */
    PATH_MIGRATION_STATE("path_mig_state"),
    /** The sizes of the queues. C: {@index IBV_QP_CAP}, {@code cap}. */
    CAPABILITIES("cap"),
    /** The number of the peer's queue pair. C: {@index IBV_QP_DEST_QPN}, {@code dest_qp_num}. */
    DESTINATION_QUEUE_PAIR("dest_qp_num"),
    /** Packet pacing, in kilobits a second. C: {@index IBV_QP_RATE_LIMIT}, {@code rate_limit}. */
    RATE_LIMIT("rate_limit");

    private final String field;

    QueuePairAttribute(String field) {
        this.field = field;
    }

    /** {@return the name of the field of {@code struct ibv_qp_attr}} */
    public String field() {
        return field;
    }
}
