/**
 * One process of a measurement: {@code side WORKLOAD server|client|alone}.
 *
 * <p>{@link io.rdma4j.benchmarks.side.Repertoire} names the workloads; {@link io.rdma4j.benchmarks.side.Side} runs
 * one, says {@code ready PORT} on standard output when it listens, and prints what it measured.
 */
@NullMarked
package io.rdma4j.benchmarks.side;

import org.jspecify.annotations.NullMarked;
