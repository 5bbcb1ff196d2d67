// SPDX-License-Identifier: Apache-2.0
/*
 * A libibverbs with one device, whose driver does next to nothing: what is posted has completed at once. So what is
 * measured with it is the way from a program to its driver. For one thread at a time; objects are never freed.
 */
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

/* Completions that a queue keeps; a power of two, more than are posted before they are polled. */
#define PLACES 1024

struct completion {
    uint64_t wr_id;
    uint32_t qp_num;
    enum ibv_wc_opcode opcode;
};

struct queue {
    struct ibv_cq cq;
    uint32_t posted;
    uint32_t polled;
    struct completion places[PLACES];
};

struct shared_queue {
    struct ibv_srq srq;
    struct queue *queue;
};

static struct ibv_device device = {
    .node_type = IBV_NODE_CA,
    .transport_type = IBV_TRANSPORT_IB,
    .name = "instant0",
};
/* Where receives of a shared queue complete: on a device the queue pair that takes one says it. */
static struct queue *newest;
static uint32_t next_key = 0x100;

/* ---- the driver */

static void complete(struct queue *queue, uint64_t wr_id, uint32_t qp_num, enum ibv_wc_opcode opcode)
{
    struct completion *place = &queue->places[queue->posted++ & (PLACES - 1)];

    place->wr_id = wr_id;
    place->qp_num = qp_num;
    place->opcode = opcode;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)bad;
    for (; wr; wr = wr->next)
        complete((struct queue *)qp->send_cq, wr->wr_id, qp->qp_num, IBV_WC_SEND);
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)bad;
    for (; wr; wr = wr->next)
        complete((struct queue *)qp->recv_cq, wr->wr_id, qp->qp_num, IBV_WC_RECV);
    return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)bad;
    for (; wr; wr = wr->next)
        complete(((struct shared_queue *)srq)->queue, wr->wr_id, 0, IBV_WC_RECV);
    return 0;
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
    struct queue *queue = (struct queue *)cq;
    int found;

    for (found = 0; found < most && queue->polled != queue->posted; found++, wc++) {
        struct completion *place = &queue->places[queue->polled++ & (PLACES - 1)];

        wc->wr_id = place->wr_id;
        wc->status = IBV_WC_SUCCESS;
        wc->opcode = place->opcode;
        wc->byte_len = 0;
        wc->qp_num = place->qp_num;
        wc->wc_flags = 0;
    }
    return found;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    (void)cq;
    (void)solicited_only;
    return 0;
}

/* ---- the library; what does nothing at all is in idle_verbs.c */

struct ibv_context *ibv_open_device(struct ibv_device *opened)
{
    struct verbs_context *verbs = calloc(1, sizeof *verbs);

    verbs->sz = sizeof *verbs;
    verbs->context.device = opened ? opened : &device;
    verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    verbs->context.async_fd = eventfd(0, EFD_NONBLOCK);
    verbs->context.num_comp_vectors = 1;
    verbs->context.ops.post_send = post_send;
    verbs->context.ops.post_recv = post_recv;
    verbs->context.ops.post_srq_recv = post_srq_recv;
    verbs->context.ops.poll_cq = poll_cq;
    verbs->context.ops.req_notify_cq = req_notify_cq;
    return &verbs->context;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
    (void)context;
    memset(attributes, 0, sizeof *attributes);
    attributes->vendor_id = 0x02c9; /* one whose drivers may be called critically */
    attributes->phys_port_cnt = 1;
    return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof *pd);

    pd->context = context;
    return pd;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    struct ibv_mr *mr = calloc(1, sizeof *mr);

    (void)access;
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = addr;
    mr->length = length;
    mr->lkey = mr->rkey = next_key += 0x100;
    return mr;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = calloc(1, sizeof *channel);

    channel->context = context;
    channel->fd = eventfd(0, EFD_NONBLOCK);
    return channel;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int vector)
{
    struct queue *queue = calloc(1, sizeof *queue);

    (void)vector;
    queue->cq.context = context;
    queue->cq.cq_context = cq_context;
    queue->cq.channel = channel;
    queue->cq.cqe = cqe;
    newest = queue;
    return &queue->cq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attributes)
{
    struct shared_queue *shared = calloc(1, sizeof *shared);

    (void)attributes;
    shared->srq.context = pd->context;
    shared->srq.pd = pd;
    shared->queue = newest;
    return &shared->srq;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
    struct ibv_qp *qp = calloc(1, sizeof *qp);

    qp->context = pd->context;
    qp->pd = pd;
    qp->send_cq = attributes->send_cq;
    qp->recv_cq = attributes->recv_cq;
    qp->srq = attributes->srq;
    qp->qp_num = 0x11;
    qp->qp_type = attributes->qp_type;
    return qp;
}
