// SPDX-License-Identifier: Apache-2.0
/**
 * Memory of native devices: regions, windows, device memory, and what is checked before a driver reads an address. Start reading at {@link
 * io.rdma4j.ibverbs.memory.DomainServices}, what objects need of their protection domain, and {@link
 * io.rdma4j.ibverbs.memory.NativeMemoryRegion}. Knows no queue.
 */
@NullMarked
package io.rdma4j.ibverbs.memory;

import org.jspecify.annotations.NullMarked;
