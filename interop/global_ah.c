// SPDX-License-Identifier: Apache-2.0
/*
 * Preloaded, it lets datagrams of rsockets go over RoCE. librdmacm makes the address handle of its own queue pair without a global
 * route header, which RoCE does not have: the kernel says EINVAL. This gives such a handle the port's IPv4 address.
 *
 *     gcc -shared -fPIC -o global_ah.so global_ah.c -ldl -libverbs
 *     LD_PRELOAD=./global_ah.so udpong
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>

enum { TABLE = 16, HOPS = 64 };

static int is_ipv4(const union ibv_gid *gid)
{
    return gid->global.subnet_prefix == 0 && gid->raw[8] == 0 && gid->raw[9] == 0 && gid->raw[10] == 0xff && gid->raw[11] == 0xff;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct ibv_ah *(*create)(struct ibv_pd *, struct ibv_ah_attr *) = dlsym(RTLD_NEXT, "ibv_create_ah");
    struct ibv_ah_attr global = *attr;
    for (int i = 0; i < TABLE && !global.is_global; i++) {
        union ibv_gid gid;
        if (!ibv_query_gid(pd->context, attr->port_num, i, &gid) && is_ipv4(&gid)) {
            global.is_global = 1;
            global.grh.dgid = gid;
            global.grh.sgid_index = i;
            global.grh.hop_limit = HOPS;
        }
    }
    return create(pd, &global);
}
