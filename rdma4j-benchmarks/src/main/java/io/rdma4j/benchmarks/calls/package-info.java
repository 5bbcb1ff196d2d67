/**
 * What a call costs by several ways of making it: short bursts, in turns, in one process.
 *
 * <p>Knows no subject. Start reading at {@link io.rdma4j.benchmarks.calls.CallCosts}.
 */
@NullMarked
package io.rdma4j.benchmarks.calls;

import org.jspecify.annotations.NullMarked;
