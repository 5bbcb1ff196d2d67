/**
 * Registered memory and the keys it answers to.
 *
 * <p>{@link io.rdma4j.softnic.memory.IdTable} finds an object by the 24 bits of its key or number;
 * {@link io.rdma4j.softnic.memory.RegisteredMemory} is what a key stands for;
 * {@link io.rdma4j.softnic.memory.DomainMemory} is all of it as queue pairs of one protection domain may
 * see it. Knows no queue pair and no packet.
 */
@NullMarked
package io.rdma4j.softnic.memory;

import org.jspecify.annotations.NullMarked;
