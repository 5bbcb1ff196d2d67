// SPDX-License-Identifier: Apache-2.0
/**
 * What all measuring programs share: a workload and its settings, the time span that is measured, latencies,
 * and the messages by which two processes coordinate outside the measurement.
 *
 * <p>Knows no peer. Start reading at {@link io.rdma4j.benchmarks.workload.Workload}.
 */
@NullMarked
package io.rdma4j.benchmarks.workload;

import org.jspecify.annotations.NullMarked;
