// SPDX-License-Identifier: Apache-2.0
/**
 * One process of a measurement: {@code side WORKLOAD server|client|alone}.
 *
 * <p>{@link io.rdma4j.benchmarks.side.Repertoire} lists the workloads. {@link io.rdma4j.benchmarks.side.Side} runs
 * one, prints {@code ready PORT} on standard output when it listens, and prints its results at the end.
 */
@NullMarked
package io.rdma4j.benchmarks.side;

import org.jspecify.annotations.NullMarked;
