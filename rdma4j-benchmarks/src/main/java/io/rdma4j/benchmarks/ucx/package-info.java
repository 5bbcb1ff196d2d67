// SPDX-License-Identifier: Apache-2.0
/**
 * UCX over TCP by JUCX, its Java binding.
 *
 * <p>Knows only the workload. Start reading at {@link io.rdma4j.benchmarks.ucx.JucxPut}.
 */
@NullMarked
package io.rdma4j.benchmarks.ucx;

import org.jspecify.annotations.NullMarked;
