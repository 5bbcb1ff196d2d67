// SPDX-License-Identifier: Apache-2.0
/**
 * Packets from one process to another through shared memory.
 *
 * <p>Each device has a {@link io.rdma4j.softnic.network.ring.Mailbox} with rings that it reads, one for each device that
 * writes to it by a {@link io.rdma4j.softnic.network.ring.RingPath}. Callers supply the memory and the way to wake a
 * sleeping process; nothing here makes a system call. Another process writes the contents of a ring, so they are checked
 * before use; no contents can harm the reader.
 */
@NullMarked
package io.rdma4j.softnic.network.ring;

import org.jspecify.annotations.NullMarked;
