// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;

/**
 * A number that bounds what a device can do, under the field name of {@code struct ibv_device_attr}.
 *
 * <p>C: {@index ibv_query_device}. In the order in which {@code ibv_devinfo -v} prints them.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum DeviceLimit {
    /** The longest memory region, in bytes. C: {@index max_mr_size of struct ibv_device_attr}. */
    MAX_MR_SIZE,
    /** The page sizes a region may have, as bits. C: {@index page_size_cap of struct ibv_device_attr}. */
    PAGE_SIZE_CAP,
    /** Queue pairs. C: {@index max_qp of struct ibv_device_attr}. */
    MAX_QP,
    /** Outstanding work requests of one queue. C: {@index max_qp_wr of struct ibv_device_attr}. */
    MAX_QP_WR,
    /** Scatter/gather elements of one request. C: {@index max_sge of struct ibv_device_attr}. */
    MAX_SGE,
    /** Scatter/gather elements of one READ. C: {@index max_sge_rd of struct ibv_device_attr}. */
    MAX_SGE_RD,
    /** Completion queues. C: {@index max_cq of struct ibv_device_attr}. */
    MAX_CQ,
    /** Entries of one completion queue. C: {@index max_cqe of struct ibv_device_attr}. */
    MAX_CQE,
    /** Memory regions. C: {@index max_mr of struct ibv_device_attr}. */
    MAX_MR,
    /** Protection domains. C: {@index max_pd of struct ibv_device_attr}. */
    MAX_PD,
    /** READs and atomics one queue pair can hold as responder. C: {@index max_qp_rd_atom of struct ibv_device_attr}. */
    MAX_QP_RD_ATOM,
    /** Unused: end-to-end contexts. C: {@index max_ee_rd_atom of struct ibv_device_attr}. */
    MAX_EE_RD_ATOM,
    /** READs and atomics the device can hold as responder. C: {@index max_res_rd_atom of struct ibv_device_attr}. */
    MAX_RES_RD_ATOM,
    /** READs and atomics one queue pair can have outstanding. C: {@index max_qp_init_rd_atom of struct ibv_device_attr}. */
    MAX_QP_INIT_RD_ATOM,
    /** Unused: end-to-end contexts. C: {@index max_ee_init_rd_atom of struct ibv_device_attr}. */
    MAX_EE_INIT_RD_ATOM,
    /** Unused: end-to-end contexts. C: {@index max_ee of struct ibv_device_attr}. */
    MAX_EE,
    /** Unused: reliable datagram domains. C: {@index max_rdd of struct ibv_device_attr}. */
    MAX_RDD,
    /** Memory windows. C: {@index max_mw of struct ibv_device_attr}. */
    MAX_MW,
    /** Raw IPv6 queue pairs. C: {@index max_raw_ipv6_qp of struct ibv_device_attr}. */
    MAX_RAW_IPV6_QP,
    /** Raw Ethertype queue pairs. C: {@index max_raw_ethy_qp of struct ibv_device_attr}. */
    MAX_RAW_ETHY_QP,
    /** Multicast groups. C: {@index max_mcast_grp of struct ibv_device_attr}. */
    MAX_MCAST_GRP,
    /** Queue pairs attached to one multicast group. C: {@index max_mcast_qp_attach of struct ibv_device_attr}. */
    MAX_MCAST_QP_ATTACH,
    /** Queue pairs attached to multicast groups in all. C: {@index max_total_mcast_qp_attach of struct ibv_device_attr}. */
    MAX_TOTAL_MCAST_QP_ATTACH,
    /** Address handles. C: {@index max_ah of struct ibv_device_attr}. */
    MAX_AH,
    /** Fast memory regions. C: {@index max_fmr of struct ibv_device_attr}. */
    MAX_FMR,
    /** Shared receive queues. C: {@index max_srq of struct ibv_device_attr}. */
    MAX_SRQ,
    /** Outstanding requests of one shared receive queue. C: {@index max_srq_wr of struct ibv_device_attr}. */
    MAX_SRQ_WR,
    /** Scatter/gather elements of a shared receive request. C: {@index max_srq_sge of struct ibv_device_attr}. */
    MAX_SRQ_SGE,
    /** P_Keys of a port. C: {@index max_pkeys of struct ibv_device_attr}. */
    MAX_PKEYS;

    /** {@return the name of the field in C} */
    public String field() {
        return name().toLowerCase(Locale.ROOT);
    }
}
