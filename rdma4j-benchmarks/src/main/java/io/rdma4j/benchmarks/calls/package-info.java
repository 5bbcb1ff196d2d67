// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the cost of several ways to make a call: in short bursts, in turns, in one process.
 *
 * <p>Knows nothing of what is called. Start reading at {@link io.rdma4j.benchmarks.calls.CallCosts}.
 */
@NullMarked
package io.rdma4j.benchmarks.calls;

import org.jspecify.annotations.NullMarked;
