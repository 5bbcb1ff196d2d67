// SPDX-License-Identifier: Apache-2.0
/**
 * Aeron over UDP; in each process the thread that sends or receives also drives the media driver.
 *
 * <p>Knows only the workload. Start reading at {@link io.rdma4j.benchmarks.aeron.AeronSide}.
 */
@NullMarked
package io.rdma4j.benchmarks.aeron;

import org.jspecify.annotations.NullMarked;
