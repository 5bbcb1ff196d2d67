/**
 * Aeron over UDP; each process drives its media driver by the thread that sends or receives.
 *
 * <p>Knows the workload alone. Start reading at {@link io.rdma4j.benchmarks.aeron.AeronSide}.
 */
@NullMarked
package io.rdma4j.benchmarks.aeron;

import org.jspecify.annotations.NullMarked;
