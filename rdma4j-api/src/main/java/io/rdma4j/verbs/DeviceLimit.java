package io.rdma4j.verbs;

import java.util.Locale;

/**
 * A number that bounds what a device can do, under the field name of {@code struct ibv_device_attr}.
 *
 * <p>C: {@code ibv_query_device}. In the order in which {@code ibv_devinfo -v} prints them.
 */
public enum DeviceLimit {
    /** The longest memory region, in bytes. */
    MAX_MR_SIZE,
    /** The page sizes a region may have, as bits. */
    PAGE_SIZE_CAP,
    /** Queue pairs. */
    MAX_QP,
    /** Outstanding work requests of one queue. */
    MAX_QP_WR,
    /** Scatter/gather elements of one request. */
    MAX_SGE,
    /** Scatter/gather elements of one READ. */
    MAX_SGE_RD,
    /** Completion queues. */
    MAX_CQ,
    /** Entries of one completion queue. */
    MAX_CQE,
    /** Memory regions. */
    MAX_MR,
    /** Protection domains. */
    MAX_PD,
    /** READs and atomics one queue pair can hold as responder. */
    MAX_QP_RD_ATOM,
    /** Unused: end-to-end contexts. */
    MAX_EE_RD_ATOM,
    /** READs and atomics the device can hold as responder. */
    MAX_RES_RD_ATOM,
    /** READs and atomics one queue pair can have outstanding. */
    MAX_QP_INIT_RD_ATOM,
    /** Unused: end-to-end contexts. */
    MAX_EE_INIT_RD_ATOM,
    /** Unused: end-to-end contexts. */
    MAX_EE,
    /** Unused: reliable datagram domains. */
    MAX_RDD,
    /** Memory windows. */
    MAX_MW,
    /** Raw IPv6 queue pairs. */
    MAX_RAW_IPV6_QP,
    /** Raw Ethertype queue pairs. */
    MAX_RAW_ETHY_QP,
    /** Multicast groups. */
    MAX_MCAST_GRP,
    /** Queue pairs attached to one multicast group. */
    MAX_MCAST_QP_ATTACH,
    /** Queue pairs attached to multicast groups in all. */
    MAX_TOTAL_MCAST_QP_ATTACH,
    /** Address handles. */
    MAX_AH,
    /** Fast memory regions. */
    MAX_FMR,
    /** Shared receive queues. */
    MAX_SRQ,
    /** Outstanding requests of one shared receive queue. */
    MAX_SRQ_WR,
    /** Scatter/gather elements of a shared receive request. */
    MAX_SRQ_SGE,
    /** P_Keys of a port. */
    MAX_PKEYS;

    /** {@return the name of the field in C} */
    public String field() {
        return name().toLowerCase(Locale.ROOT);
    }
}
