/**
 * The connection manager of native devices: librdmacm, driven so that queue pairs stay the application's.
 *
 * <p>No id ever has a queue pair ({@code id->qp} is null), so the library modifies none while it reads events, and says when
 * a peer has accepted. {@link io.rdma4j.ibverbs.cm.CmChannel} reads all events of the process in one thread;
 * {@link io.rdma4j.ibverbs.cm.NativeConnections} is what an open device offers; {@link io.rdma4j.ibverbs.cm.KernelPorts}
 * gives out ports. Knows no object of the verbs but the context it is given.
 */
@NullMarked
package io.rdma4j.ibverbs.cm;

import org.jspecify.annotations.NullMarked;
