// SPDX-License-Identifier: Apache-2.0
/*
 * What io_uring would gain for datagrams: two processes over the UDP of the loopback interface, by plain system calls and by io_uring,
 * with multishot receives into provided buffers and registered memory to send from.
 *
 *     udp_uring lat plain|uring|defer [ROUNDS]    half a round trip of 96 B, polling, in microseconds
 *     udp_uring bw  plain|uring|zc [MESSAGES]            messages of 15 packets of 4096 B, in GB/s
 *
 * Nothing of this is part of rdma4j: see docs/adr/0074.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <signal.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { PACKET = 4096, PACKETS = 15, MESSAGE = PACKET * PACKETS, SMALL = 96, BATCH = 8, WINDOW = 48, EACH = 8 };
enum { ENTRIES = 256, BUFFERS = 256, GROUP = 1 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* ------------------------------------------------------------------ sockets */

static struct sockaddr_in at(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    return address;
}

static int bound(int port) {
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    int size = 4 << 20;
    struct sockaddr_in own = at(port);
    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    if (s < 0 || bind(s, (struct sockaddr *) &own, sizeof own))
        die("bind");
    return s;
}

static void towards(int s, int port) {
    struct sockaddr_in peer = at(port);
    if (connect(s, (struct sockaddr *) &peer, sizeof peer))
        die("connect");
}

/* ------------------------------------------------------------------ a ring */

struct ring {
    int fd;
    _Atomic unsigned *sq_tail, *cq_head, *cq_tail;
    unsigned sq_mask, cq_mask, queued;
    unsigned *array;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    struct io_uring_buf_ring *buffers;
    char *memory;
    unsigned length;
    unsigned short given;
};

static void open_ring(struct ring *r, unsigned flags) {
    struct io_uring_params p = {.flags = flags | IORING_SETUP_CQSIZE, .cq_entries = 4 * ENTRIES};
    r->fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
    if (r->fd < 0)
        die("io_uring_setup");
    size_t sq = p.sq_off.array + p.sq_entries * sizeof(unsigned), cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    size_t length = sq > cq ? sq : cq;
    char *m = mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
    r->sqes = mmap(0, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd,
            IORING_OFF_SQES);
    if (m == MAP_FAILED || r->sqes == MAP_FAILED)
        die("mmap");
    r->sq_tail = (void *) (m + p.sq_off.tail);
    r->sq_mask = *(unsigned *) (m + p.sq_off.ring_mask);
    r->array = (void *) (m + p.sq_off.array);
    r->cq_head = (void *) (m + p.cq_off.head);
    r->cq_tail = (void *) (m + p.cq_off.tail);
    r->cq_mask = *(unsigned *) (m + p.cq_off.ring_mask);
    r->cqes = (void *) (m + p.cq_off.cqes);
    r->queued = 0;
}

static void give(struct ring *r, int id) {
    struct io_uring_buf *b = &r->buffers->bufs[r->given & (BUFFERS - 1)];
    b->addr = (uintptr_t) (r->memory + (size_t) id * r->length);
    b->len = r->length;
    b->bid = id;
    r->given++;
    atomic_store_explicit((_Atomic unsigned short *) &r->buffers->tail, r->given, memory_order_release);
}

static void open_buffers(struct ring *r, unsigned length) {
    struct io_uring_buf_reg reg = {.ring_entries = BUFFERS, .bgid = GROUP};
    r->length = length;
    r->buffers = mmap(0, BUFFERS * sizeof(struct io_uring_buf), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_POPULATE, -1, 0);
    r->memory = mmap(0, (size_t) BUFFERS * length, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_POPULATE, -1, 0);
    reg.ring_addr = (uintptr_t) r->buffers;
    if (syscall(SYS_io_uring_register, r->fd, IORING_REGISTER_PBUF_RING, &reg, 1))
        die("provided buffers");
    for (int id = 0; id < BUFFERS; id++)
        give(r, id);
}

static struct io_uring_sqe *sqe(struct ring *r, int opcode, int fd) {
    unsigned tail = atomic_load_explicit(r->sq_tail, memory_order_relaxed);
    struct io_uring_sqe *e = &r->sqes[tail & r->sq_mask];
    memset(e, 0, sizeof *e);
    e->opcode = opcode;
    e->fd = fd;
    r->array[tail & r->sq_mask] = tail & r->sq_mask;
    return e;
}

static void queue(struct ring *r) {
    unsigned tail = atomic_load_explicit(r->sq_tail, memory_order_relaxed);
    atomic_store_explicit(r->sq_tail, tail + 1, memory_order_release);
    r->queued++;
}

static void enter(struct ring *r, unsigned complete, unsigned flags) {
    unsigned submit = r->queued;
    r->queued = 0;
    if (syscall(SYS_io_uring_enter, r->fd, submit, complete, flags, 0, 0) < 0 && errno != EINTR)
        die("io_uring_enter");
}

static void listen_multishot(struct ring *r, int s) {
    struct io_uring_sqe *e = sqe(r, IORING_OP_RECV, s);
    e->ioprio = IORING_RECV_MULTISHOT;
    e->flags = IOSQE_BUFFER_SELECT;
    e->buf_group = GROUP;
    e->user_data = 1;
    queue(r);
    enter(r, 0, 0);
}

/* The next completion, or null. */
static struct io_uring_cqe *completion(struct ring *r) {
    unsigned head = atomic_load_explicit(r->cq_head, memory_order_relaxed);
    return head == atomic_load_explicit(r->cq_tail, memory_order_acquire) ? 0 : &r->cqes[head & r->cq_mask];
}

static void taken(struct ring *r) {
    atomic_store_explicit(r->cq_head, atomic_load_explicit(r->cq_head, memory_order_relaxed) + 1, memory_order_release);
}

/* Takes completions of sends; a received message's length, and its buffer is given back, or 0. */
static int receive(struct ring *r, int s, int *sent) {
    for (struct io_uring_cqe *c = completion(r); c; c = completion(r)) {
        struct io_uring_cqe got = *c;
        taken(r);
        if (got.user_data != 1) {
            if (got.res < 0) {
                errno = -got.res;
                die("send");
            }
            if (sent && !(got.flags & IORING_CQE_F_NOTIF))
                ++*sent;
            continue;
        }
        if (got.res < 0 && got.res != -ENOBUFS) {
            errno = -got.res;
            die("receive");
        }
        if (got.flags & IORING_CQE_F_BUFFER)
            give(r, got.flags >> IORING_CQE_BUFFER_SHIFT);
        if (!(got.flags & IORING_CQE_F_MORE))
            listen_multishot(r, s);
        if (got.res > 0)
            return got.res;
    }
    return 0;
}

/* ------------------------------------------------------------------ round trips */

/* Without "defer" the kernel completes a receive at its next chance, otherwise when it is asked for completions. */
static unsigned setup_flags(const char *how) {
    return strcmp(how, "defer") ? 0 : IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
}

static void lat(const char *how, int s, int isFirst, long rounds) {
    char bytes[SMALL] = {0};
    struct ring r;
    int isPlain = !strcmp(how, "plain");
    int isDeferred = !strcmp(how, "defer");
    if (!isPlain) {
        open_ring(&r, setup_flags(how));
        open_buffers(&r, SMALL);
        listen_multishot(&r, s);
    }
    double begin = 0;
    long warm = rounds / 5;
    for (long i = -warm; i < rounds; i++) {
        if (i == 0)
            begin = now();
        for (int half = 0; half < 2; half++) {
            if ((half == 0) == isFirst) {
                if (isPlain) {
                    if (send(s, bytes, SMALL, 0) != SMALL)
                        die("send");
                } else {
                    struct io_uring_sqe *e = sqe(&r, IORING_OP_SEND, s);
                    e->addr = (uintptr_t) bytes;
                    e->len = SMALL;
                    e->user_data = 2;
                    e->flags = IOSQE_CQE_SKIP_SUCCESS;
                    queue(&r);
                    enter(&r, 0, isDeferred ? IORING_ENTER_GETEVENTS : 0);
                }
            } else if (isPlain) {
                while (recv(s, bytes, SMALL, MSG_DONTWAIT) != SMALL) {
                }
            } else {
                while (!receive(&r, s, 0))
                    if (isDeferred)
                        enter(&r, 0, IORING_ENTER_GETEVENTS);
            }
        }
    }
    if (isFirst)
        printf("lat %-6s %.3f us\n", how, (now() - begin) / rounds / 2 * 1e6);
}

/* ------------------------------------------------------------------ a stream */

static void stream_plain(int s, long messages, char *memory) {
    struct iovec v[BATCH];
    struct mmsghdr m[BATCH];
    memset(m, 0, sizeof m);
    long sent = 0, acked = 0;
    char ack[8];
    while (acked < messages) {
        while (recv(s, ack, sizeof ack, MSG_DONTWAIT) > 0)
            acked += EACH;
        int room = WINDOW - (sent - acked), n = room < BATCH ? room : BATCH;
        if (n > messages - sent)
            n = messages - sent;
        if (n < (messages - sent < BATCH ? 1 : BATCH))
            continue;
        for (int i = 0; i < n; i++) {
            v[i] = (struct iovec){memory + ((sent + i) % WINDOW) * MESSAGE, MESSAGE};
            m[i].msg_hdr.msg_iov = &v[i];
            m[i].msg_hdr.msg_iovlen = 1;
        }
        int got = sendmmsg(s, m, n, 0);
        if (got < 0)
            die("sendmmsg");
        sent += got;
    }
}

static void stream_uring(int s, long messages, char *memory, int isZeroCopy) {
    struct ring r;
    open_ring(&r, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN);
    open_buffers(&r, 64);
    struct iovec whole = {memory, (size_t) WINDOW * MESSAGE};
    if (syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_BUFFERS, &whole, 1))
        die("registered memory");
    listen_multishot(&r, s);
    long sent = 0, acked = 0;
    int completed = 0;
    while (acked < messages) {
        while (receive(&r, s, &completed))
            acked += EACH;
        int room = WINDOW - (sent - acked), n = room < BATCH ? room : BATCH;
        if (n > messages - sent)
            n = messages - sent;
        if (n < (messages - sent < BATCH ? 1 : BATCH)) {
            enter(&r, 0, IORING_ENTER_GETEVENTS);
            continue;
        }
        for (int i = 0; i < n; i++, sent++) {
            struct io_uring_sqe *e = sqe(&r, isZeroCopy ? IORING_OP_SEND_ZC : IORING_OP_SEND, s);
            e->addr = (uintptr_t) (memory + (sent % WINDOW) * MESSAGE);
            e->len = MESSAGE;
            e->user_data = 2;
            if (isZeroCopy)
                e->ioprio = IORING_RECVSEND_FIXED_BUF;
            queue(&r);
        }
        enter(&r, 0, 0);
    }
}

static void take_plain(int s, long messages, char *memory) {
    struct iovec v[BATCH];
    struct mmsghdr m[BATCH];
    memset(m, 0, sizeof m);
    for (int i = 0; i < BATCH; i++) {
        v[i] = (struct iovec){memory + (size_t) i * (1 << 16), 1 << 16};
        m[i].msg_hdr.msg_iov = &v[i];
        m[i].msg_hdr.msg_iovlen = 1;
    }
    long bytes = 0, acked = 0;
    while (acked < messages) {
        int got = recvmmsg(s, m, BATCH, MSG_DONTWAIT, 0);
        for (int i = 0; i < got; i++)
            bytes += m[i].msg_len;
        for (; acked + EACH <= bytes / MESSAGE; acked += EACH)
            if (send(s, "acknowl", 8, 0) != 8)
                die("send");
    }
}

static void take_uring(int s, long messages) {
    struct ring r;
    open_ring(&r, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN);
    open_buffers(&r, 1 << 16);
    listen_multishot(&r, s);
    long bytes = 0, acked = 0;
    while (acked < messages) {
        int got = receive(&r, s, 0);
        if (!got)
            enter(&r, 0, IORING_ENTER_GETEVENTS);
        bytes += got;
        for (; acked + EACH <= bytes / MESSAGE; acked += EACH) {
            struct io_uring_sqe *e = sqe(&r, IORING_OP_SEND, s);
            e->addr = (uintptr_t) "acknowl";
            e->len = 8;
            e->user_data = 2;
            queue(&r);
            enter(&r, 0, 0);
        }
    }
}

int main(int n, char **arguments) {
    if (n < 3) {
        fprintf(stderr, "usage: udp_uring lat plain|uring|defer [ROUNDS]\n       udp_uring bw plain|uring|zc [MESSAGES, a multiple of 8]\n");
        return 2;
    }
    const char *how = arguments[2];
    int isLat = !strcmp(arguments[1], "lat"), isPlain = !strcmp(how, "plain");
    long count = n > 3 ? atol(arguments[3]) : isLat ? 200000 : 80000;
    int first = bound(20001), second = bound(20002), yes = 1, packet = PACKET;
    towards(first, 20002);
    towards(second, 20001);
    if (!isLat && (setsockopt(first, IPPROTO_UDP, UDP_SEGMENT, &packet, sizeof packet)
            || setsockopt(second, IPPROTO_UDP, UDP_GRO, &yes, sizeof yes)))
        die("offload");
    char *memory = mmap(0, (size_t) WINDOW * MESSAGE + (BATCH << 16), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_POPULATE,
            -1, 0);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (isLat)
            lat(how, second, 0, count);
        else if (isPlain)
            take_plain(second, count, memory);
        else
            take_uring(second, count);
        return 0;
    }
    if (isLat) {
        usleep(200000);
        lat(how, first, 1, count);
    } else {
        usleep(200000);
        double begin = now();
        if (isPlain)
            stream_plain(first, count, memory);
        else
            stream_uring(first, count, memory, !strcmp(how, "zc"));
        printf("bw  %-6s %.3f GB/s\n", how, (double) count * MESSAGE / (now() - begin) / 1e9);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
