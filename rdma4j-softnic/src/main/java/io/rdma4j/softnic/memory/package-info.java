// SPDX-License-Identifier: Apache-2.0
/**
 * Registered memory and its keys.
 *
 * <p>{@link io.rdma4j.spi.IdTable} finds an object by the 24 bits of its key or number.
 * {@link io.rdma4j.softnic.memory.RegisteredMemory} is the memory of a key.
 * {@link io.rdma4j.softnic.memory.DomainMemory} is all memory that queue pairs of one protection domain may
 * access. Knows no queue pair and no packet.
 */
@NullMarked
package io.rdma4j.softnic.memory;

import org.jspecify.annotations.NullMarked;
