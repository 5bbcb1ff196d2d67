// SPDX-License-Identifier: Apache-2.0
/*
 * A C client of DiSNI's example VerbsServer, of which rdma-core has no counterpart: it receives where the server's text is, reads it
 * by RDMA, prints it and sends a last message. Build and use:
 *
 *     gcc -Wall -O2 -o disni_client interop/disni_client.c -lrdmacm -libverbs
 *     disni_client ADDRESS PORT
 *
 * Exits with status 0 when all of it succeeded, else with 1 and a line that says what failed.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the server sends, big-endian as Java's buffers are. */
struct __attribute__((packed)) place {
    uint64_t address;
    uint32_t length;
    uint32_t key;
};

static void require(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "disni_client: %s failed: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void require_success(struct rdma_cm_id *id, int is_send, const char *what) {
    struct ibv_wc wc;
    int count = is_send ? rdma_get_send_comp(id, &wc) : rdma_get_recv_comp(id, &wc);
    require(count == 1, what);
    if (wc.status != IBV_WC_SUCCESS) {
        fprintf(stderr, "disni_client: %s completed with: %s\n", what, ibv_wc_status_str(wc.status));
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: disni_client ADDRESS PORT\n");
        return 2;
    }
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *found;
    require(rdma_getaddrinfo(argv[1], argv[2], &hints, &found) == 0, "rdma_getaddrinfo");
    struct ibv_qp_init_attr attributes = {.cap = {4, 4, 1, 1, 0}, .sq_sig_all = 1};
    struct rdma_cm_id *id;
    require(rdma_create_ep(&id, found, NULL, &attributes) == 0, "rdma_create_ep");

    static char message[100], text[4096];
    struct ibv_mr *message_mr = rdma_reg_msgs(id, message, sizeof message);
    struct ibv_mr *text_mr = rdma_reg_msgs(id, text, sizeof text);
    require(message_mr && text_mr, "rdma_reg_msgs");
    require(rdma_post_recv(id, NULL, message, sizeof message, message_mr) == 0, "rdma_post_recv");
    struct rdma_conn_param parameters = {
        .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
    require(rdma_connect(id, &parameters) == 0, "rdma_connect");

    require_success(id, 0, "receive");
    struct place place;
    memcpy(&place, message, sizeof place);
    uint64_t address = be64toh(place.address);
    uint32_t length = be32toh(place.length);
    uint32_t key = be32toh(place.key);
    if (length == 0 || length >= sizeof text) {
        fprintf(stderr, "disni_client: the server has %" PRIu32 " bytes, not 1 to %zu\n", length, sizeof text - 1);
        return 1;
    }
    require(rdma_post_read(id, NULL, text, length, text_mr, 0, address, key) == 0, "rdma_post_read");
    require_success(id, 1, "READ");
    /* Java's characters, of two bytes, the higher one first. */
    char read[sizeof text / 2 + 1] = "", expected[100];
    for (uint32_t i = 0; i < length / 2; i++) {
        read[i] = text[2 * i + 1];
    }
    snprintf(expected, sizeof expected, "This is a RDMA/read on stag %d !", (int32_t)key);
    printf("read from the server: %s\n", read);
    if (strncmp(read, expected, strlen(expected)) != 0) {
        fprintf(stderr, "disni_client: that is not: %s\n", expected);
        return 1;
    }

    require(rdma_post_send(id, NULL, message, sizeof place, message_mr, 0) == 0, "rdma_post_send");
    require_success(id, 1, "SEND");
    rdma_disconnect(id);
    rdma_dereg_mr(message_mr);
    rdma_dereg_mr(text_mr);
    rdma_destroy_ep(id);
    return 0;
}
