// SPDX-License-Identifier: Apache-2.0
/**
 * TCP by Netty's native epoll transport.
 *
 * <p>Knows only the workload. Start reading at {@link io.rdma4j.benchmarks.netty.NettyPingPong}.
 */
@NullMarked
package io.rdma4j.benchmarks.netty;

import org.jspecify.annotations.NullMarked;
