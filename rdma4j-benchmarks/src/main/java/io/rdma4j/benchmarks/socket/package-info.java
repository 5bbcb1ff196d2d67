// SPDX-License-Identifier: Apache-2.0
/**
 * Sockets by Linux's system calls.
 *
 * <p>Knows no workload. Start reading at {@link io.rdma4j.benchmarks.socket.LoopbackSocket}.
 */
@NullMarked
package io.rdma4j.benchmarks.socket;

import org.jspecify.annotations.NullMarked;
