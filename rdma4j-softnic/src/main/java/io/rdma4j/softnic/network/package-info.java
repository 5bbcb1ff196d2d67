// SPDX-License-Identifier: Apache-2.0
/**
 * The network back-ends: they send and receive packets, as UDP datagrams or through shared memory.
 *
 * <p>A {@link io.rdma4j.softnic.network.DatagramNetwork} has a {@link io.rdma4j.softnic.network.PacketPort} for each local
 * address. A port gathers the pieces of an outgoing packet, adds the ICRC and sends it; it delivers
 * packets that arrive with a correct ICRC. Knows addresses and sockets, no queue pair.
 */
@NullMarked
package io.rdma4j.softnic.network;

import org.jspecify.annotations.NullMarked;
