package io.rdma4j.verbs;

/**
 * An attribute of a queue pair that {@link QueuePair#modify} can set.
 *
 * <p>C: {@code enum ibv_qp_attr_mask}; the C field's name appears in error messages.
 */
public enum QueuePairAttribute {
    /** The state to move to. */
    STATE("state"),
    /** The state the caller believes the queue pair is in. */
    CURRENT_STATE("cur_state"),
    /** Ask for an event when the send queue is drained. */
    ENABLE_SQD_ASYNC_NOTIFY("en_sqd_async_notify"),
    /** What the peer may do through this queue pair. */
    ACCESS_FLAGS("qp_access_flags"),
    /** The P_Key, by its index in the port's table. */
    PKEY_INDEX("pkey_index"),
    /** The port, from 1. */
    PORT("port_num"),
    /** The Q_Key of a datagram queue pair. */
    QKEY("qkey"),
    /** The path to the peer. */
    ADDRESS_VECTOR("ah_attr"),
    /** Payload bytes of a full packet. */
    PATH_MTU("path_mtu"),
    /** Wait for an acknowledgement: 4.096 us times 2 to this power; 0 is for ever. */
    TIMEOUT("timeout"),
    /** Retries before giving up, 0 to 7. */
    RETRY_COUNT("retry_cnt"),
    /** Retries while the peer has no receive posted, 0 to 6; 7 is for ever. */
    RNR_RETRY("rnr_retry"),
    /** The first PSN expected from the peer. */
    RECEIVE_PSN("rq_psn"),
    /** READs and atomics this side may have outstanding. */
    MAX_READ_ATOMIC("max_rd_atomic"),
    /** The alternate path. */
    ALTERNATE_PATH("alt_ah_attr"),
    /** The wait this side asks of a peer that finds no receive posted: a code from 0 to 31. */
    MIN_RNR_TIMER("min_rnr_timer"),
    /** The first PSN this side sends. */
    SEND_PSN("sq_psn"),
    /** READs and atomics of the peer this side can hold. */
    MAX_DESTINATION_READ_ATOMIC("max_dest_rd_atomic"),
    /** The state of path migration. */
    PATH_MIGRATION_STATE("path_mig_state"),
    /** The sizes of the queues. */
    CAPABILITIES("cap"),
    /** The number of the peer's queue pair. */
    DESTINATION_QUEUE_PAIR("dest_qp_num"),
    /** Unused since kernel 4.x. */
    SOURCE_MAC("smac"),
    /** Unused. */
    ALTERNATE_SOURCE_MAC("alt_smac"),
    /** Unused. */
    VLAN_ID("vlan_id"),
    /** Unused. */
    ALTERNATE_VLAN_ID("alt_vlan_id"),
    /** Packet pacing, in kilobits a second. */
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
