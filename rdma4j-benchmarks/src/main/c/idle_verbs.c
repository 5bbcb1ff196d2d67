// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of libibverbs that do nothing in the one of instant_verbs.c, and succeed. Apart from it, for they are not
 * declared as the header has them.
 */
#define IDLE(name) \
    int name(void) \
    { \
        return 0; \
    }

IDLE(ibv_get_device_list)
IDLE(ibv_free_device_list)
IDLE(ibv_close_device)
IDLE(ibv_get_device_guid)
IDLE(ibv_get_async_event)
IDLE(ibv_ack_async_event)
IDLE(ibv_query_port)
IDLE(ibv_query_gid)
IDLE(ibv_query_pkey)
IDLE(ibv_dealloc_pd)
IDLE(ibv_rereg_mr)
IDLE(ibv_dereg_mr)
IDLE(ibv_destroy_comp_channel)
IDLE(ibv_resize_cq)
IDLE(ibv_destroy_cq)
IDLE(ibv_get_cq_event)
IDLE(ibv_ack_cq_events)
IDLE(ibv_modify_srq)
IDLE(ibv_query_srq)
IDLE(ibv_destroy_srq)
IDLE(ibv_modify_qp)
IDLE(ibv_query_qp)
IDLE(ibv_destroy_qp)
IDLE(ibv_create_ah)
IDLE(ibv_destroy_ah)
IDLE(ibv_init_ah_from_wc)
IDLE(ibv_attach_mcast)
IDLE(ibv_detach_mcast)
IDLE(ibv_resolve_eth_l2_from_gid)
