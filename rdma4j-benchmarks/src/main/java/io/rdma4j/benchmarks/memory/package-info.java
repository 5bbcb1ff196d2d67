// SPDX-License-Identifier: Apache-2.0
/**
 * Shared memory between two processes, as the lower bound of what any transport costs.
 *
 * <p>Knows only the workload. Start reading at {@link io.rdma4j.benchmarks.memory.MemoryFloor}.
 */
@NullMarked
package io.rdma4j.benchmarks.memory;

import org.jspecify.annotations.NullMarked;
