/**
 * Pieces of rdma4j by themselves, with JMH: {@code benchmarks/parts}.
 *
 * <p>Each benchmark is one call of the hot path and must allocate nothing; its profiler {@code gc} shows that. Knows
 * the insides of the protocol and of the software NIC. Start reading at
 * {@link io.rdma4j.benchmarks.parts.RcPackets}.
 */
@NullMarked
package io.rdma4j.benchmarks.parts;

import org.jspecify.annotations.NullMarked;
