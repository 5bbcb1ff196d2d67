/**
 * Packets from one process to another through memory that both have mapped.
 *
 * <p>Each device has a {@link io.rdma4j.softnic.network.ring.Mailbox}: rings that it reads, one for each device that writes
 * to it by a {@link io.rdma4j.softnic.network.ring.RingPath}. Where the memory comes from, and how who sleeps is woken, is
 * told from outside; nothing here calls the system. What stands in a ring is another process's word: it is checked
 * before it is used, and nothing that can be written there does harm to who reads it.
 */
@NullMarked
package io.rdma4j.softnic.network.ring;

import org.jspecify.annotations.NullMarked;
