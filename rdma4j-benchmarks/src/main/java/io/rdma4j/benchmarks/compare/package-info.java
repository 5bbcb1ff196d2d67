// SPDX-License-Identifier: Apache-2.0
/**
 * The command {@code compare}: runs trials in turn, several times, and reports their ratios.
 *
 * <p>A {@link io.rdma4j.benchmarks.compare.Runner} runs a {@link io.rdma4j.benchmarks.compare.Trial} once.
 * {@link io.rdma4j.benchmarks.compare.Catalogue} lists the trials,
 * {@link io.rdma4j.benchmarks.compare.Session} interleaves them and keeps their results, and
 * {@link io.rdma4j.benchmarks.compare.Goals} has the ratios to reach. Knows how to start a process of a measurement, and
 * no peer. Start reading at {@link io.rdma4j.benchmarks.compare.Compare}.
 */
@NullMarked
package io.rdma4j.benchmarks.compare;

import org.jspecify.annotations.NullMarked;
