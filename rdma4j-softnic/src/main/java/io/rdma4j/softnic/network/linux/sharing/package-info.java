// SPDX-License-Identifier: Apache-2.0
/**
 * The processes of one user share UDP port 4791 of an address (ADR 43): {@link
 * io.rdma4j.softnic.network.linux.sharing.SharedPort} is this process's share.
 *
 * <p>{@link io.rdma4j.softnic.network.linux.sharing.TableSocket} finds the {@link
 * io.rdma4j.softnic.network.linux.sharing.SharedTable} that all processes have mapped, {@link
 * io.rdma4j.softnic.network.linux.sharing.TableLocks} orders their changes, {@link
 * io.rdma4j.softnic.network.linux.sharing.Prefixes} are the numbers that name processes, {@link
 * io.rdma4j.softnic.network.linux.sharing.ReuseportGroups} has the places of their sockets, and a {@link
 * io.rdma4j.softnic.network.linux.sharing.SteeringProgram} has the kernel select the process that a packet is for.
 */
@NullMarked
package io.rdma4j.softnic.network.linux.sharing;

import org.jspecify.annotations.NullMarked;
