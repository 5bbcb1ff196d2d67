// SPDX-License-Identifier: Apache-2.0
/**
 * Packets between processes through memory that both have mapped (ADR 45): {@link
 * io.rdma4j.softnic.network.linux.memory.HostMemory} finds the mailboxes of other processes in the shared table, maps their rings, and wakes
 * who sleeps by a pipe; {@code ProcessWatch} notices when these processes end (ADR 82). The rings themselves make no system call: see
 * {@link io.rdma4j.softnic.network.ring}.
 */
@NullMarked
package io.rdma4j.softnic.network.linux.memory;

import org.jspecify.annotations.NullMarked;
