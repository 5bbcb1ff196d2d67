// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the cost of a TCP connection's calls by the JDK's channels and by Linux's own functions:
 * {@code benchmarks/streams}.
 *
 * <p>Knows no RDMA. Start reading at {@link io.rdma4j.benchmarks.streams.StreamCost}.
 */
@NullMarked
package io.rdma4j.benchmarks.streams;

import org.jspecify.annotations.NullMarked;
