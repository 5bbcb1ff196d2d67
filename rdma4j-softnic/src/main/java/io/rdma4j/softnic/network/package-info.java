/**
 * The network: where packets meet the network.
 *
 * <p>A {@link io.rdma4j.softnic.network.DatagramNetwork} has a {@link io.rdma4j.softnic.network.PacketPort} for each local
 * address; a port gathers an outgoing packet's pieces, seals it with the ICRC, sends it, and hands up
 * what arrives intact. Knows addresses and sockets, no queue pair.
 */
@NullMarked
package io.rdma4j.softnic.network;

import org.jspecify.annotations.NullMarked;
