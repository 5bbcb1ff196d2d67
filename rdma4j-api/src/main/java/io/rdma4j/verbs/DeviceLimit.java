// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;

/**
 * A number that bounds what a device can do, under the field name of {@code struct ibv_device_attr}.
 *
 * <p>C: {@code ibv_query_device}. In the order in which {@code ibv_devinfo -v} prints them.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum DeviceLimit {
    /** The longest memory region, in bytes. C: {@code max_mr_size}. */
    MAX_MR_SIZE,
    /** The page sizes a region may have, as bits. C: {@code page_size_cap}. */
    PAGE_SIZE_CAP,
    /** Queue pairs. C: {@code max_qp}. */
    MAX_QP,
    /** Outstanding work requests of one queue. C: {@code max_qp_wr}. */
    MAX_QP_WR,
    /** Scatter/gather elements of one request. C: {@code max_sge}. */
    MAX_SGE,
    /** Scatter/gather elements of one READ. C: {@code max_sge_rd}. */
    MAX_SGE_RD,
    /** Completion queues. C: {@code max_cq}. */
    MAX_CQ,
    /** Entries of one completion queue. C: {@code max_cqe}. */
    MAX_CQE,
    /** Memory regions. C: {@code max_mr}. */
    MAX_MR,
    /** Protection domains. C: {@code max_pd}. */
    MAX_PD,
    /** READs and atomics one queue pair can hold as responder. C: {@code max_qp_rd_atom}. */
    MAX_QP_RD_ATOM,
    /** Unused: end-to-end contexts. C: {@code max_ee_rd_atom}. */
    MAX_EE_RD_ATOM,
    /** READs and atomics the device can hold as responder. C: {@code max_res_rd_atom}. */
    MAX_RES_RD_ATOM,
    /** READs and atomics one queue pair can have outstanding. C: {@code max_qp_init_rd_atom}. */
    MAX_QP_INIT_RD_ATOM,
    /** Unused: end-to-end contexts. C: {@code max_ee_init_rd_atom}. */
    MAX_EE_INIT_RD_ATOM,
    /** Unused: end-to-end contexts. C: {@code max_ee}. */
    MAX_EE,
    /** Unused: reliable datagram domains. C: {@code max_rdd}. */
    MAX_RDD,
    /** Memory windows. C: {@code max_mw}. */
    MAX_MW,
    /** Raw IPv6 queue pairs. C: {@code max_raw_ipv6_qp}. */
    MAX_RAW_IPV6_QP,
    /** Raw Ethertype queue pairs. C: {@code max_raw_ethy_qp}. */
    MAX_RAW_ETHY_QP,
    /** Multicast groups. C: {@code max_mcast_grp}. */
    MAX_MCAST_GRP,
    /** Queue pairs attached to one multicast group. C: {@code max_mcast_qp_attach}. */
    MAX_MCAST_QP_ATTACH,
    /** Queue pairs attached to multicast groups in all. C: {@code max_total_mcast_qp_attach}. */
    MAX_TOTAL_MCAST_QP_ATTACH,
    /** Address handles. C: {@code max_ah}. */
    MAX_AH,
    /** Fast memory regions. C: {@code max_fmr}. */
    MAX_FMR,
    /** Shared receive queues. C: {@code max_srq}. */
    MAX_SRQ,
    /** Outstanding requests of one shared receive queue. C: {@code max_srq_wr}. */
    MAX_SRQ_WR,
    /** Scatter/gather elements of a shared receive request. C: {@code max_srq_sge}. */
    MAX_SRQ_SGE,
    /** P_Keys of a port. C: {@code max_pkeys}. */
    MAX_PKEYS;

    /** {@return the name of the field in C} */
    public String field() {
        return name().toLowerCase(Locale.ROOT);
    }
}
