// SPDX-License-Identifier: Apache-2.0
/**
 * UDP by Linux's system calls.
 *
 * <p>Knows only the workload and the sockets of {@link io.rdma4j.benchmarks.socket}. Start reading at
 * {@link io.rdma4j.benchmarks.udp.UdpCeiling}.
 */
@NullMarked
package io.rdma4j.benchmarks.udp;

import org.jspecify.annotations.NullMarked;
