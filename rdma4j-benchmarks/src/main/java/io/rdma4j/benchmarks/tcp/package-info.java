// SPDX-License-Identifier: Apache-2.0
/**
 * Plain TCP by the JDK's channels, blocking.
 *
 * <p>Knows only the workload. Start reading at {@link io.rdma4j.benchmarks.tcp.TcpStream}.
 */
@NullMarked
package io.rdma4j.benchmarks.tcp;

import org.jspecify.annotations.NullMarked;
