// SPDX-License-Identifier: Apache-2.0
/**
 * Compares programs that know nothing of RDMA over TCP and over rdma4j's sockets, by the one variable: {@code benchmarks/sockets}.
 *
 * <p>The programs use the JDK and Netty alone. Start reading at {@link io.rdma4j.benchmarks.sockets.SocketsComparison}.
 */
@NullMarked
package io.rdma4j.benchmarks.sockets;

import org.jspecify.annotations.NullMarked;
