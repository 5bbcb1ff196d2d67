// SPDX-License-Identifier: Apache-2.0
/**
 * rdma4j itself, by verbs: workloads of two processes, which bring their queue pairs up themselves, and measurements in
 * one process.
 *
 * <p>Knows the API and the options of software devices, and no device. Start reading at
 * {@link io.rdma4j.benchmarks.rdma.RdmaStream}.
 */
@NullMarked
package io.rdma4j.benchmarks.rdma;

import org.jspecify.annotations.NullMarked;
