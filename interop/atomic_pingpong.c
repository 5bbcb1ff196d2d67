// SPDX-License-Identifier: Apache-2.0
/*
 * Atomics on the peer's memory, each result checked, first by the client, then by the server: the C side of
 * `./rdma4j atomic_pingpong`, which describes the exchange.
 *
 *     gcc -Wall -O2 -o atomic_pingpong interop/atomic_pingpong.c -libverbs
 *     atomic_pingpong [-d DEV] [-g GID-INDEX] [-p TCP-PORT] [-n ROUNDS] [HOST]
 */
#include <endian.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STEP 0x9e3779b97f4a7c15ULL
#define ENDPOINT_LENGTH (sizeof "0000:000000:000000:00000000000000000000000000000000")
#define ADVERTISEMENT 16
#define PATIENCE_S 10
#define LINGER_US 200000

enum { RECEIVE_ID = 1, SEND_ID = 2 };

/* One side's memory; the peer's atomics reach the first two words. */
struct words {
    uint64_t counter;
    uint64_t swapped;
    uint64_t result;
    unsigned char outgoing[ADVERTISEMENT];
    unsigned char incoming[ADVERTISEMENT];
};

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_cq *completions;
static struct ibv_qp *queue_pair;
static struct ibv_mr *region;
static struct words *words;
static int gid_index = 1;
static uint32_t rounds = 1000;
static int is_message_there;

static void fail(const char *what) {
    fprintf(stderr, "atomic_pingpong: %s\n", what);
    exit(1);
}

static void require(int is_good, const char *what) {
    if (!is_good) {
        fail(what);
    }
}

/* ---------------------------------------------------------------- verbs */

static void open_device(const char *name) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    require(list && *list, "no RDMA device");
    struct ibv_device **device = list;
    while (name && *device && strcmp(ibv_get_device_name(*device), name)) {
        device++;
    }
    require(*device != NULL, "no such device");
    require((context = ibv_open_device(*device)) != NULL, "cannot open the device");
    ibv_free_device_list(list);
}

static void create_objects(void) {
    words = aligned_alloc(4096, 4096);
    require(words != NULL, "no memory");
    memset(words, 0, 4096);
    require((domain = ibv_alloc_pd(context)) != NULL, "ibv_alloc_pd failed");
    region = ibv_reg_mr(domain, words, sizeof *words, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
    require(region != NULL, "ibv_reg_mr failed");
    require((completions = ibv_create_cq(context, 16, NULL, NULL, 0)) != NULL, "ibv_create_cq failed");
    struct ibv_qp_init_attr wanted = {
        .send_cq = completions, .recv_cq = completions, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    require((queue_pair = ibv_create_qp(domain, &wanted)) != NULL, "ibv_create_qp failed");
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC};
    require(!ibv_modify_qp(queue_pair, &init,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            "ibv_modify_qp to INIT failed");
}

static void connect_to(uint32_t number, uint32_t psn, const union ibv_gid *gid, uint32_t own_psn) {
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = number, .rq_psn = psn,
        .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1,
                    .grh = {.dgid = *gid, .sgid_index = gid_index, .hop_limit = 64}}};
    require(!ibv_modify_qp(queue_pair, &attr,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                               | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
            "ibv_modify_qp to RTR failed");
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.sq_psn = own_psn;
    attr.max_rd_atomic = 1;
    require(!ibv_modify_qp(queue_pair, &attr,
                           IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
                               | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
            "ibv_modify_qp to RTS failed");
}

static void post_receive(void) {
    struct ibv_sge element = {(uintptr_t) words->incoming, ADVERTISEMENT, region->lkey};
    struct ibv_recv_wr request = {.wr_id = RECEIVE_ID, .sg_list = &element, .num_sge = 1}, *bad;
    require(!ibv_post_recv(queue_pair, &request, &bad), "ibv_post_recv failed");
}

static uint64_t take_next(void) {
    struct ibv_wc completion;
    time_t start = time(NULL);
    int count;
    while ((count = ibv_poll_cq(completions, 1, &completion)) == 0) {
        require(time(NULL) - start <= PATIENCE_S, "nothing came from the peer for 10 s");
    }
    require(count == 1, "ibv_poll_cq failed");
    if (completion.status != IBV_WC_SUCCESS) {
        fprintf(stderr, "atomic_pingpong: Failed status %s (%d) for wr_id %d\n",
                ibv_wc_status_str(completion.status), completion.status, (int) completion.wr_id);
        exit(1);
    }
    return completion.wr_id;
}

static void post_and_await(struct ibv_send_wr *request) {
    struct ibv_send_wr *bad;
    request->wr_id = SEND_ID;
    request->num_sge = 1;
    request->send_flags = IBV_SEND_SIGNALED;
    require(!ibv_post_send(queue_pair, request, &bad), "ibv_post_send failed");
    while (take_next() != SEND_ID) {
        is_message_there = 1;
    }
}

static void send_message(uint32_t length) {
    struct ibv_sge element = {(uintptr_t) words->outgoing, length, region->lkey};
    struct ibv_send_wr request = {.opcode = IBV_WR_SEND, .sg_list = &element};
    post_and_await(&request);
}

static void await_message(void) {
    while (!is_message_there) {
        is_message_there = take_next() == RECEIVE_ID;
    }
    is_message_there = 0;
    post_receive();
}

/* ---------------------------------------------------------------- the game */

static void require_equal(const char *what, uint64_t value, uint64_t expected) {
    if (value != expected) {
        fprintf(stderr, "atomic_pingpong: %s: 0x%016llx instead of 0x%016llx\n", what,
                (unsigned long long) value, (unsigned long long) expected);
        exit(1);
    }
}

static void run(enum ibv_wr_opcode opcode, uint64_t address, uint32_t rkey, uint64_t compare_add,
                uint64_t swap, uint64_t expected) {
    struct ibv_sge element = {(uintptr_t) &words->result, sizeof words->result, region->lkey};
    struct ibv_send_wr request = {
        .opcode = opcode, .sg_list = &element,
        .wr.atomic = {.remote_addr = address, .rkey = rkey, .compare_add = compare_add, .swap = swap}};
    words->result = ~expected;
    post_and_await(&request);
    require_equal(opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? "fetch-and-add" : "compare-and-swap",
                  words->result, expected);
}

static void act(uint64_t address, uint32_t rkey) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t before = round * STEP;
        run(IBV_WR_ATOMIC_FETCH_AND_ADD, address + offsetof(struct words, counter), rkey, STEP, 0, before);
        run(IBV_WR_ATOMIC_CMP_AND_SWP, address + offsetof(struct words, swapped), rkey, before,
            before + STEP, before);
        run(IBV_WR_ATOMIC_CMP_AND_SWP, address + offsetof(struct words, swapped), rkey, before, ~before,
            before + STEP);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%u atomics in %.2f seconds, every result as expected\n", 3 * rounds,
           (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9);
    send_message(0);
}

static void suffer(uint32_t peers_rounds) {
    await_message();
    require_equal("counter", words->counter, peers_rounds * STEP);
    require_equal("swapped word", words->swapped, peers_rounds * STEP);
    printf("memory is as the peer's %u atomics should leave it\n", 3 * peers_rounds);
}

static void play(int is_client) {
    uint64_t address = htobe64((uintptr_t) words);
    uint32_t numbers[] = {htobe32(region->rkey), htobe32(rounds)};
    memcpy(words->outgoing, &address, 8);
    memcpy(words->outgoing + 8, numbers, 8);
    send_message(ADVERTISEMENT);
    await_message();
    memcpy(&address, words->incoming, 8);
    memcpy(numbers, words->incoming + 8, 8);
    address = be64toh(address);
    if (is_client) {
        act(address, be32toh(numbers[0]));
        suffer(be32toh(numbers[1]));
    } else {
        suffer(be32toh(numbers[1]));
        act(address, be32toh(numbers[0]));
    }
}

/* ---------------------------------------------------------------- the side channel */

static int meet(const char *host, const char *port) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *address;
    require(!getaddrinfo(host, port, &hints, &address), "unknown host or port");
    int s = socket(address->ai_family, SOCK_STREAM, 0), on = 1;
    require(s >= 0, "no socket");
    if (host) {
        require(!connect(s, address->ai_addr, address->ai_addrlen), "cannot connect");
        freeaddrinfo(address);
        return s;
    }
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    require(!bind(s, address->ai_addr, address->ai_addrlen) && !listen(s, 1), "cannot listen");
    freeaddrinfo(address);
    int connection = accept(s, NULL, NULL);
    require(connection >= 0, "cannot accept");
    close(s);
    return connection;
}

static void tell(int s, const void *bytes, size_t length) {
    require(write(s, bytes, length) == (ssize_t) length, "cannot tell the peer");
}

static void learn(int s, void *bytes, size_t length) {
    require(recv(s, bytes, length, MSG_WAITALL) == (ssize_t) length, "the peer hung up");
}

static void tell_endpoint(int s, uint32_t psn) {
    union ibv_gid gid;
    char text[ENDPOINT_LENGTH];
    require(!ibv_query_gid(context, 1, gid_index, &gid), "no such GID");
    int length = sprintf(text, "0000:%06x:%06x:", queue_pair->qp_num, psn);
    for (int i = 0; i < 16; i++) {
        length += sprintf(text + length, "%02x", gid.raw[i]);
    }
    tell(s, text, sizeof text);
}

static void learn_endpoint(int s, uint32_t own_psn) {
    union ibv_gid gid;
    char text[ENDPOINT_LENGTH];
    unsigned lid, number, psn;
    learn(s, text, sizeof text);
    text[sizeof text - 1] = 0;
    require(sscanf(text, "%x:%x:%x:", &lid, &number, &psn) == 3, "the peer says nonsense");
    const char *digits = strrchr(text, ':') + 1;
    for (int i = 0; i < 16; i++) {
        require(sscanf(digits + 2 * i, "%2hhx", &gid.raw[i]) == 1, "the peer says nonsense");
    }
    connect_to(number, psn, &gid, own_psn);
}

int main(int count, char **arguments) {
    const char *device = NULL, *port = "18515";
    int option;
    while ((option = getopt(count, arguments, "d:g:p:n:")) != -1) {
        switch (option) {
            case 'd': device = optarg; break;
            case 'g': gid_index = atoi(optarg); break;
            case 'p': port = optarg; break;
            case 'n': rounds = strtoul(optarg, NULL, 0); break;
            default: return 2;
        }
    }
    const char *host = arguments[optind];
    setvbuf(stdout, NULL, _IOLBF, 0);
    srand48(getpid() ^ time(NULL));
    uint32_t psn = lrand48() & 0xffffff;
    char done[sizeof "done"];

    open_device(device);
    create_objects();
    post_receive();
    int s = meet(host, port);
    if (host) {
        tell_endpoint(s, psn);
        learn_endpoint(s, psn);
        tell(s, "done", sizeof done);
    } else {
        learn_endpoint(s, psn);
        tell_endpoint(s, psn);
        learn(s, done, sizeof done);
    }
    close(s);
    play(host != NULL);
    /* The peer may have missed the last acknowledgement. */
    usleep(LINGER_US);
    return 0;
}
