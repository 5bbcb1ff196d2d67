// SPDX-License-Identifier: Apache-2.0
/**
 * The connection manager of native devices: librdmacm, used so that rdma4j, not the library, modifies queue pairs.
 *
 * <p>An id of the library never has a queue pair ({@code id->qp} is null). So the library modifies none when it reads
 * events, and reports when a peer has accepted. {@link io.rdma4j.ibverbs.cm.CmChannel} reads all events of the process in
 * one thread, {@link io.rdma4j.ibverbs.cm.NativeConnections} has the connections of an open device, and
 * {@link io.rdma4j.ibverbs.cm.KernelPorts} allocates ports. Knows no object of the verbs but the device context that it is
 * given, and that context's device.
 */
@NullMarked
package io.rdma4j.ibverbs.cm;

import org.jspecify.annotations.NullMarked;
