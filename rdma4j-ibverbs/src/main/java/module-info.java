// SPDX-License-Identifier: Apache-2.0
/**
 * Real NICs and the kernel's drivers: libibverbs and librdmacm, without native code of its own.
 *
 * <p>Read first: {@code provider.NativeProvider}, which lists the devices, {@code queue.NativeQueuePair}, which programs post to, and
 * {@code cm.NativeConnections}.
 */
module io.rdma4j.ibverbs {
    requires static org.jspecify;
    requires transitive io.rdma4j.api;

    provides io.rdma4j.verbs.RdmaProvider with io.rdma4j.ibverbs.provider.NativeProvider;
}
