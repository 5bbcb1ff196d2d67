// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

/**
 * A device whose verbs the kernel offers to programs.
 *
 * @param name such as {@code mlx5_0}
 * @param node the name of its file in {@code /dev/infiniband}, such as {@code uverbs0}
 */
record KernelDevice(String name, String node) {}
