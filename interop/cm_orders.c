// SPDX-License-Identifier: Apache-2.0
/*
 * What each call of librdmacm does to an id in each state, as this machine's library and kernel have it.
 *
 *     gcc -Wall -O2 -o cm_orders interop/cm_orders.c -lrdmacm -libverbs
 *     cm_orders ADDRESS [TCP|UDP [STATE [CALL]]]
 *
 * ADDRESS is one of a device of this machine, whose ids connect to each other. Each line has a port space, a state, a call,
 * and its outcome: `ok`, the name of an errno, `crash` (a signal) or `blocks` (for longer than PATIENCE_S). The event that
 * follows a call stands behind `ok`, for calls that bring one to the same id. Each line is measured in a process of its own.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 10
#define EVENT_MS 3000
#define RESOLVE_MS 2000
#define MOST_EVENTS 64
/* For an id without a device, which cannot have one. */
#define NO_QUEUE_PAIR 17
#define GROUP "239.77.0.1"
/* TEST-NET-1, which no device of a laboratory leads to. */
#define NOWHERE "192.0.2.1"

struct seen {
    struct rdma_cm_id *id;
    struct rdma_cm_id *listener;
    enum rdma_cm_event_type type;
    int is_taken;
};

static const char *own_address;
static enum rdma_port_space space;
static struct rdma_event_channel *channel;
static struct rdma_event_channel *other_channel;
static struct seen events[MOST_EVENTS];
static int event_count;
/* The listener that active ids resolve, and the port it has. */
static struct rdma_cm_id *server;
static uint16_t server_port;

static void unprepared(const char *step) {
    printf("unprepared: %s: %s\n", step, strerror(errno));
    fflush(stdout);
    _exit(0);
}

static void require(int result, const char *step) {
    if (result) {
        unprepared(step);
    }
}

/* ---------------------------------------------------------------- events */

static int is_readable(int timeout_ms) {
    struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
    return poll(&waiting, 1, timeout_ms) > 0;
}

static void take_event(void) {
    struct rdma_cm_event *event;
    if (rdma_get_cm_event(channel, &event)) {
        return;
    }
    if (event_count == MOST_EVENTS) {
        unprepared("too many events");
    }
    events[event_count++] = (struct seen) {event->id, event->listen_id, event->event, 0};
    rdma_ack_cm_event(event);
}

/* The next event of an id that was not asked for yet, NULL if none comes in time. */
static struct seen *next_event(struct rdma_cm_id *id, struct rdma_cm_id *listener, int timeout_ms) {
    for (;;) {
        for (int i = 0; i < event_count; i++) {
            struct seen *seen = &events[i];
            int is_wanted = listener ? seen->listener == listener : seen->id == id;
            /* The end of time-wait comes when it comes. */
            if (!seen->is_taken && is_wanted && seen->type != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
                seen->is_taken = 1;
                return seen;
            }
        }
        if (!is_readable(timeout_ms)) {
            return NULL;
        }
        take_event();
    }
}

static void await(struct rdma_cm_id *id, enum rdma_cm_event_type type) {
    struct seen *seen = next_event(id, NULL, EVENT_MS);
    if (!seen || seen->type != type) {
        errno = 0;
        printf("unprepared: %s in place of %s\n", seen ? rdma_event_str(seen->type) : "nothing", rdma_event_str(type));
        fflush(stdout);
        _exit(0);
    }
}

static struct rdma_cm_id *await_request(void) {
    struct seen *seen = next_event(NULL, server, EVENT_MS);
    if (!seen || seen->type != RDMA_CM_EVENT_CONNECT_REQUEST) {
        unprepared("connect request");
    }
    return seen->id;
}

/* ---------------------------------------------------------------- addresses and parameters */

static struct sockaddr *at(const char *address, uint16_t port) {
    static struct sockaddr_in results[4];
    static int next;
    struct sockaddr_in *result = &results[next++ % 4];
    memset(result, 0, sizeof *result);
    result->sin_family = AF_INET;
    result->sin_port = htons(port);
    inet_pton(AF_INET, address, &result->sin_addr);
    return (struct sockaddr *) result;
}

/* A queue pair of the program's own, of which the id knows only the number; siw looks for it. */
static uint32_t other_queue_pair(struct rdma_cm_id *id) {
    if (!id->verbs || !id->pd) {
        return NO_QUEUE_PAIR;
    }
    struct ibv_cq *completions = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
    struct ibv_qp_init_attr attributes = {
        .send_cq = completions,
        .recv_cq = completions,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC,
    };
    struct ibv_qp *queue_pair = completions ? ibv_create_qp(id->pd, &attributes) : NULL;
    require(!queue_pair, "create another queue pair");
    struct ibv_qp_attr initial = {.qp_state = IBV_QPS_INIT};
    int mask;
    if (!rdma_init_qp_attr(id, &initial, &mask)) {
        require(ibv_modify_qp(queue_pair, &initial, mask), "initialize another queue pair");
    }
    return queue_pair->qp_num;
}

static struct rdma_conn_param *parameters(struct rdma_cm_id *id) {
    static struct rdma_conn_param result;
    memset(&result, 0, sizeof result);
    result.responder_resources = 1;
    result.initiator_depth = 1;
    result.retry_count = 7;
    result.rnr_retry_count = 7;
    result.qp_num = id->qp ? 0 : other_queue_pair(id);
    return &result;
}

static int create_queue_pair(struct rdma_cm_id *id) {
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC,
    };
    return rdma_create_qp(id, NULL, &attributes);
}

/* ---------------------------------------------------------------- states */

static struct rdma_cm_id *fresh(void) {
    struct rdma_cm_id *id;
    require(rdma_create_id(channel, &id, NULL, space), "create id");
    return id;
}

static struct rdma_cm_id *bound(void) {
    struct rdma_cm_id *id = fresh();
    require(rdma_bind_addr(id, at(own_address, 0)), "bind");
    return id;
}

static struct rdma_cm_id *bound_any(void) {
    struct rdma_cm_id *id = fresh();
    require(rdma_bind_addr(id, at("0.0.0.0", 0)), "bind");
    return id;
}

static struct rdma_cm_id *listening(void) {
    struct rdma_cm_id *id = bound();
    require(rdma_listen(id, 0), "listen");
    return id;
}

/* Resolving has failed, at once or by an event. */
static struct rdma_cm_id *unresolved(void) {
    struct rdma_cm_id *id = fresh();
    if (!rdma_resolve_addr(id, NULL, at(NOWHERE, 7471), RESOLVE_MS)) {
        await(id, RDMA_CM_EVENT_ADDR_ERROR);
    }
    return id;
}

static struct rdma_cm_id *address_resolved(void) {
    struct rdma_cm_id *id = fresh();
    require(rdma_resolve_addr(id, NULL, at(own_address, server_port), RESOLVE_MS), "resolve address");
    await(id, RDMA_CM_EVENT_ADDR_RESOLVED);
    return id;
}

static struct rdma_cm_id *route_resolved(void) {
    struct rdma_cm_id *id = address_resolved();
    require(rdma_resolve_route(id, RESOLVE_MS), "resolve route");
    await(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
    return id;
}

static struct rdma_cm_id *ready(void) {
    struct rdma_cm_id *id = route_resolved();
    require(create_queue_pair(id), "create queue pair");
    return id;
}

static struct rdma_cm_id *connecting(void) {
    struct rdma_cm_id *id = ready();
    require(rdma_connect(id, parameters(id)), "connect");
    await_request();
    return id;
}

/* One end of a connection that is being made, and the other. */
struct pair {
    struct rdma_cm_id *active;
    struct rdma_cm_id *passive;
};

static struct pair requested(int has_queue_pair) {
    struct pair pair = {.active = has_queue_pair ? ready() : route_resolved()};
    require(rdma_connect(pair.active, parameters(pair.active)), "connect");
    pair.passive = await_request();
    return pair;
}

static struct rdma_cm_id *request(void) {
    return requested(1).passive;
}

static struct rdma_cm_id *request_ready(void) {
    struct rdma_cm_id *id = request();
    require(create_queue_pair(id), "create queue pair");
    return id;
}

static struct pair accepted_pair(int has_queue_pair) {
    struct pair pair = requested(has_queue_pair);
    require(create_queue_pair(pair.passive), "create queue pair");
    require(rdma_accept(pair.passive, parameters(pair.passive)), "accept");
    return pair;
}

static struct rdma_cm_id *response(void) {
    struct pair pair = accepted_pair(0);
    struct seen *seen = next_event(pair.active, NULL, EVENT_MS);
    if (!seen || (seen->type != RDMA_CM_EVENT_CONNECT_RESPONSE && seen->type != RDMA_CM_EVENT_ESTABLISHED)) {
        unprepared("response");
    }
    return pair.active;
}

static struct rdma_cm_id *accepted(void) {
    struct pair pair = accepted_pair(0);
    struct seen *seen = next_event(pair.active, NULL, EVENT_MS);
    if (!seen) {
        unprepared("response");
    }
    if (seen->type == RDMA_CM_EVENT_ESTABLISHED) {
        /* On iWARP the answer establishes. */
        await(pair.passive, RDMA_CM_EVENT_ESTABLISHED);
    }
    return pair.passive;
}

static struct pair established_pair(void) {
    struct pair pair = accepted_pair(1);
    await(pair.active, RDMA_CM_EVENT_ESTABLISHED);
    if (space == RDMA_PS_TCP) {
        await(pair.passive, RDMA_CM_EVENT_ESTABLISHED);
    }
    return pair;
}

static struct rdma_cm_id *established(void) {
    return established_pair().active;
}

static struct rdma_cm_id *established_passive(void) {
    return established_pair().passive;
}

/* The active side has disconnected, and the passive side has heard of it. */
static struct pair disconnecting_pair(void) {
    struct pair pair = established_pair();
    require(rdma_disconnect(pair.active), "disconnect");
    await(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
    return pair;
}

static struct rdma_cm_id *disconnected(void) {
    struct pair pair = disconnecting_pair();
    /* On InfiniBand and RoCE this answers. */
    rdma_disconnect(pair.passive);
    await(pair.active, RDMA_CM_EVENT_DISCONNECTED);
    return pair.active;
}

static struct rdma_cm_id *disconnected_by_peer(void) {
    return disconnecting_pair().passive;
}

static struct pair rejected_pair(void) {
    struct pair pair = requested(1);
    require(rdma_reject(pair.passive, NULL, 0), "reject");
    await(pair.active, space == RDMA_PS_UDP ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED);
    return pair;
}

static struct rdma_cm_id *rejected(void) {
    return rejected_pair().active;
}

static struct rdma_cm_id *rejecting(void) {
    return rejected_pair().passive;
}

static const struct {
    const char *name;
    struct rdma_cm_id *(*reach)(void);
    int is_of_connections;
} states[] = {
    {"fresh", fresh},
    {"bound", bound},
    {"bound_any", bound_any},
    {"listening", listening},
    {"unresolved", unresolved},
    {"address_resolved", address_resolved},
    {"route_resolved", route_resolved},
    {"ready", ready},
    {"connecting", connecting},
    {"request", request},
    {"request_ready", request_ready},
    {"response", response, 1},
    {"accepted", accepted, 1},
    {"established", established},
    {"established_passive", established_passive},
    {"disconnected", disconnected, 1},
    {"disconnected_by_peer", disconnected_by_peer, 1},
    {"rejected", rejected},
    {"rejecting", rejecting},
};

/* ---------------------------------------------------------------- calls */

static int bind_address(struct rdma_cm_id *id) {
    return rdma_bind_addr(id, at(own_address, 0));
}

static int bind_any(struct rdma_cm_id *id) {
    return rdma_bind_addr(id, at("0.0.0.0", 0));
}

static int resolve_address(struct rdma_cm_id *id) {
    return rdma_resolve_addr(id, NULL, at(own_address, server_port), RESOLVE_MS);
}

static int resolve_address_from(struct rdma_cm_id *id) {
    return rdma_resolve_addr(id, at(own_address, 0), at(own_address, server_port), RESOLVE_MS);
}

static int resolve_route(struct rdma_cm_id *id) {
    return rdma_resolve_route(id, RESOLVE_MS);
}

static int destroy_queue_pair(struct rdma_cm_id *id) {
    rdma_destroy_qp(id);
    return 0;
}

static int listen_to(struct rdma_cm_id *id) {
    return rdma_listen(id, 0);
}

static int get_request(struct rdma_cm_id *id) {
    struct rdma_cm_id *requested;
    return rdma_get_request(id, &requested);
}

static int connect_to(struct rdma_cm_id *id) {
    return rdma_connect(id, parameters(id));
}

static int accept_request(struct rdma_cm_id *id) {
    return rdma_accept(id, parameters(id));
}

static int reject_request(struct rdma_cm_id *id) {
    return rdma_reject(id, NULL, 0);
}

static int notify(struct rdma_cm_id *id) {
    return rdma_notify(id, IBV_EVENT_COMM_EST);
}

static int migrate(struct rdma_cm_id *id) {
    return rdma_migrate_id(id, other_channel);
}

static int option(struct rdma_cm_id *id, int name, void *value, size_t length) {
    return rdma_set_option(id, RDMA_OPTION_ID, name, value, length);
}

static int type_of_service(struct rdma_cm_id *id) {
    uint8_t value = 32;
    return option(id, RDMA_OPTION_ID_TOS, &value, sizeof value);
}

static int reuse_address(struct rdma_cm_id *id) {
    int value = 1;
    return option(id, RDMA_OPTION_ID_REUSEADDR, &value, sizeof value);
}

static int reuse_no_address(struct rdma_cm_id *id) {
    int value = 0;
    return option(id, RDMA_OPTION_ID_REUSEADDR, &value, sizeof value);
}

static int one_family(struct rdma_cm_id *id) {
    int value = 1;
    return option(id, RDMA_OPTION_ID_AFONLY, &value, sizeof value);
}

static int acknowledge_timeout(struct rdma_cm_id *id) {
    uint8_t value = 18;
    return option(id, RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof value);
}

static int join(struct rdma_cm_id *id) {
    return rdma_join_multicast(id, at(GROUP, 0), NULL);
}

static int leave(struct rdma_cm_id *id) {
    return rdma_leave_multicast(id, at(GROUP, 0));
}

static int attributes(struct rdma_cm_id *id, enum ibv_qp_state target) {
    struct ibv_qp_attr attributes = {.qp_state = target};
    int mask;
    return rdma_init_qp_attr(id, &attributes, &mask);
}

static int attributes_of_init(struct rdma_cm_id *id) {
    return attributes(id, IBV_QPS_INIT);
}

static int attributes_of_rtr(struct rdma_cm_id *id) {
    return attributes(id, IBV_QPS_RTR);
}

static int attributes_of_rts(struct rdma_cm_id *id) {
    return attributes(id, IBV_QPS_RTS);
}

/* As a program would: the queue pair first. */
static int destroy(struct rdma_cm_id *id) {
    if (id->qp) {
        rdma_destroy_qp(id);
    }
    return rdma_destroy_id(id);
}

static const struct {
    const char *name;
    int (*call)(struct rdma_cm_id *id);
    int brings_event;
} calls[] = {
    {"bind_addr", bind_address},
    {"bind_addr_any", bind_any},
    {"resolve_addr", resolve_address, 1},
    {"resolve_addr_from", resolve_address_from, 1},
    {"resolve_route", resolve_route, 1},
    {"create_qp", create_queue_pair},
    {"destroy_qp", destroy_queue_pair},
    {"listen", listen_to},
    {"get_request", get_request},
    {"connect", connect_to},
    {"accept", accept_request},
    {"reject", reject_request},
    {"establish", rdma_establish},
    {"notify", notify},
    {"disconnect", rdma_disconnect, 1},
    {"migrate_id", migrate},
    {"tos", type_of_service},
    {"reuseaddr", reuse_address},
    {"reuseaddr_off", reuse_no_address},
    {"afonly", one_family},
    {"ack_timeout", acknowledge_timeout},
    {"join_multicast", join, 1},
    {"leave_multicast", leave},
    {"init_qp_attr_init", attributes_of_init},
    {"init_qp_attr_rtr", attributes_of_rtr},
    {"init_qp_attr_rts", attributes_of_rts},
    {"destroy_id", destroy},
};

/* ---------------------------------------------------------------- measuring */

static const char *name_of(int number) {
    static char text[16];
    const char *name = strerrorname_np(number);
    snprintf(text, sizeof text, "%s", name ? name : "unknown");
    return text;
}

/* In a process of its own, which ends without closing anything. */
static void measure(int state, int call) {
    alarm(PATIENCE_S);
    channel = rdma_create_event_channel();
    other_channel = rdma_create_event_channel();
    require(!channel || !other_channel, "create event channel");
    server = listening();
    server_port = ntohs(rdma_get_src_port(server));
    struct rdma_cm_id *id = states[state].reach();
    errno = 0;
    int result = calls[call].call(id);
    if (result) {
        /* Some calls return the number in place of setting it. */
        printf("%s\n", name_of(result == -1 ? errno : result));
    } else if (calls[call].brings_event) {
        struct seen *seen = next_event(id, NULL, EVENT_MS);
        printf("ok %s\n", seen ? rdma_event_str(seen->type) + strlen("RDMA_CM_EVENT_") : "-");
    } else {
        printf("ok\n");
    }
    fflush(stdout);
    _exit(0);
}

static void print(int state, int call) {
    printf("%s %-20s %-17s ", space == RDMA_PS_UDP ? "UDP" : "TCP", states[state].name, calls[call].name);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("cm_orders: fork");
        exit(1);
    }
    if (!child) {
        measure(state, call);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        printf("%s\n", WTERMSIG(status) == SIGALRM ? "blocks" : "crash");
    }
    fflush(stdout);
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: cm_orders ADDRESS [TCP|UDP [STATE [CALL]]]\n");
        return 2;
    }
    own_address = words[1];
    const enum rdma_port_space spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP};
    for (int i = 0; i < 2; i++) {
        space = spaces[i];
        if (count > 2 && strcmp(words[2], space == RDMA_PS_UDP ? "UDP" : "TCP")) {
            continue;
        }
        for (size_t state = 0; state < sizeof states / sizeof *states; state++) {
            if ((states[state].is_of_connections && space == RDMA_PS_UDP)
                    || (count > 3 && strcmp(words[3], states[state].name))) {
                continue;
            }
            for (size_t call = 0; call < sizeof calls / sizeof *calls; call++) {
                if (count <= 4 || !strcmp(words[4], calls[call].name)) {
                    print(state, call);
                }
            }
        }
    }
    return 0;
}
