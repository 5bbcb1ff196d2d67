/**
 * What all measuring programs share: a workload and its settings, the stretch of time that counts, latencies,
 * and the talk of two processes beside what is measured.
 *
 * <p>Knows no peer. Start reading at {@link io.rdma4j.benchmarks.workload.Workload}.
 */
@NullMarked
package io.rdma4j.benchmarks.workload;

import org.jspecify.annotations.NullMarked;
