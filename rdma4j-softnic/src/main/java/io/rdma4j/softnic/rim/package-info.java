/**
 * The rim: where packets meet the network.
 *
 * <p>A {@link io.rdma4j.softnic.rim.Rim} has a {@link io.rdma4j.softnic.rim.PacketPort} for each local
 * address; a port gathers an outgoing packet's pieces, seals it with the ICRC, sends it, and hands up
 * what arrives intact. Knows addresses and sockets, no queue pair.
 */
@NullMarked
package io.rdma4j.softnic.rim;

import org.jspecify.annotations.NullMarked;
