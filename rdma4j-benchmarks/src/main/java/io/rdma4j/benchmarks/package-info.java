/**
 * The command {@code benchmarks/compare}: rdma4j beside what a user would take instead.
 *
 * <p>{@code compare} runs trials, each in processes of its own; {@code side} is one such process in Java, and
 * plays a {@code workload} over {@code rdma}, {@code tcp}, {@code udp}, {@code netty}, {@code aeron} or
 * {@code ucx}. {@code parts} measures pieces of rdma4j with JMH, {@code verbs} calls of native devices. Start reading at
 * {@link io.rdma4j.benchmarks.compare.Compare}.
 */
@NullMarked
package io.rdma4j.benchmarks;

import org.jspecify.annotations.NullMarked;
