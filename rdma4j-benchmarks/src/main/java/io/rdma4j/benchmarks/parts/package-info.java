// SPDX-License-Identifier: Apache-2.0
/**
 * Measures single parts of rdma4j with JMH: {@code benchmarks/parts}.
 *
 * <p>Each benchmark is one call of the hot path and must allocate nothing, which JMH's profiler {@code gc} shows. Knows
 * the internals of the protocol and of the software NIC. Start reading at
 * {@link io.rdma4j.benchmarks.parts.RcPackets}.
 */
@NullMarked
package io.rdma4j.benchmarks.parts;

import org.jspecify.annotations.NullMarked;
