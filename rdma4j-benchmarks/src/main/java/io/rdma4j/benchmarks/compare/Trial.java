// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;

/**
 * Something that is measured.
 *
 * @param id its name, which {@code --only} and the goals use
 * @param peer who does it
 * @param work what is done
 * @param chief the quantity that counts
 * @param runner how it is run
 */
record Trial(String id, String peer, String work, Quantity chief, Runner runner) {}
