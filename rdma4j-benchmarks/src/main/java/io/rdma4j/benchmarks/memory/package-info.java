/**
 * Memory that two processes have mapped, and nothing else.
 *
 * <p>Knows the workload alone. Start reading at {@link io.rdma4j.benchmarks.memory.MemoryFloor}.
 */
@NullMarked
package io.rdma4j.benchmarks.memory;

import org.jspecify.annotations.NullMarked;
