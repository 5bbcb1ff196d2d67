// SPDX-License-Identifier: Apache-2.0
/*
 * Posts and polls as a C program does, by the inline functions of verbs.h, which call what the driver has put into
 * ibv_context.ops. Each function makes so many calls and returns the nanoseconds they took, 0 if one failed.
 */
#include <infiniband/verbs.h>
#include <time.h>

#define LONGEST 64
#define DEPTH 512

static struct ibv_cq *queue;
static struct ibv_qp *queue_pair;
static struct ibv_srq *shared;
static struct ibv_mr *region;
static char memory[64];

/* Opens the device and makes what is needed. Returns 0, or 1 if something cannot be made. */
int set_up(void)
{
    struct ibv_srq_init_attr receives = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    struct ibv_context *context = ibv_open_device(NULL);
    struct ibv_pd *domain = context ? ibv_alloc_pd(context) : NULL;

    if (!domain)
        return 1;
    queue = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
    shared = ibv_create_srq(domain, &receives);
    region = ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    attributes.send_cq = attributes.recv_cq = queue;
    queue_pair = ibv_create_qp(domain, &attributes);
    return !queue || !shared || !region || !queue_pair;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Lists of requests of one element each, written anew for each call. */
uint64_t send_lists(int length, int calls)
{
    struct ibv_send_wr requests[LONGEST];
    struct ibv_sge elements[LONGEST];
    struct ibv_send_wr *bad;
    uint64_t begun = now();

    for (int call = 0; call < calls; call++) {
        for (int i = 0; i < length; i++) {
            elements[i].addr = (uintptr_t)memory;
            elements[i].length = sizeof memory;
            elements[i].lkey = region->lkey;
            requests[i].wr_id = (uint64_t)i;
            requests[i].next = i + 1 < length ? &requests[i + 1] : NULL;
            requests[i].sg_list = &elements[i];
            requests[i].num_sge = 1;
            requests[i].opcode = IBV_WR_SEND;
            requests[i].send_flags = IBV_SEND_SIGNALED;
        }
        if (ibv_post_send(queue_pair, requests, &bad))
            return 0;
    }
    return now() - begun;
}

static void write_receives(struct ibv_recv_wr *requests, struct ibv_sge *elements, int length)
{
    for (int i = 0; i < length; i++) {
        elements[i].addr = (uintptr_t)memory;
        elements[i].length = sizeof memory;
        elements[i].lkey = region->lkey;
        requests[i].wr_id = (uint64_t)i;
        requests[i].next = i + 1 < length ? &requests[i + 1] : NULL;
        requests[i].sg_list = &elements[i];
        requests[i].num_sge = 1;
    }
}

uint64_t receive_lists(int length, int calls)
{
    struct ibv_recv_wr requests[LONGEST];
    struct ibv_sge elements[LONGEST];
    struct ibv_recv_wr *bad;
    uint64_t begun = now();

    for (int call = 0; call < calls; call++) {
        write_receives(requests, elements, length);
        if (ibv_post_recv(queue_pair, requests, &bad))
            return 0;
    }
    return now() - begun;
}

uint64_t shared_lists(int length, int calls)
{
    struct ibv_recv_wr requests[LONGEST];
    struct ibv_sge elements[LONGEST];
    struct ibv_recv_wr *bad;
    uint64_t begun = now();

    for (int call = 0; call < calls; call++) {
        write_receives(requests, elements, length);
        if (ibv_post_srq_recv(shared, requests, &bad))
            return 0;
    }
    return now() - begun;
}

/* Completions are looked at as one must: whether they succeeded, and whose they are. */
uint64_t polls(int most, int expected, int calls)
{
    struct ibv_wc completions[LONGEST];
    volatile uint64_t numbers = 0;
    uint64_t begun = now();

    for (int call = 0; call < calls; call++) {
        int found = ibv_poll_cq(queue, most, completions);

        if (found != expected)
            return 0;
        for (int i = 0; i < found; i++) {
            if (completions[i].status != IBV_WC_SUCCESS)
                return 0;
            numbers += completions[i].wr_id;
        }
    }
    return now() - begun;
}
