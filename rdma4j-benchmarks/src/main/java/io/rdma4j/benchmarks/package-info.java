// SPDX-License-Identifier: Apache-2.0
/**
 * The command {@code benchmarks/compare}: compares rdma4j with what a user would take instead.
 *
 * <p>The package {@code compare} runs trials, each in processes of its own. {@code side} is one such process in Java; it
 * runs a {@code workload} over {@code rdma}, {@code tcp}, {@code udp}, {@code netty}, {@code aeron} or
 * {@code ucx}. {@code service} is a small service with several client processes. {@code parts} measures parts of rdma4j with JMH, {@code verbs} measures calls of native devices. Start
 * reading at {@link io.rdma4j.benchmarks.compare.Compare}.
 */
@NullMarked
package io.rdma4j.benchmarks;

import org.jspecify.annotations.NullMarked;
