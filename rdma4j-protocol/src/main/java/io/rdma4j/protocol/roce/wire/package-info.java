// SPDX-License-Identifier: Apache-2.0
/**
 * The bytes of RoCEv2: opcodes, headers, the invariant CRC.
 *
 * <p>A packet is the payload of a UDP datagram to port 4791: transport headers, payload, padding, ICRC.
 * {@link io.rdma4j.protocol.roce.wire.PacketView} reads one that was checked once,
 * {@link io.rdma4j.protocol.roce.wire.OutgoingPacket} builds one around memory it does not copy. Knows no
 * queue pair, no socket and no time. Start reading at {@link io.rdma4j.protocol.roce.wire.Opcode}.
 */
@NullMarked
package io.rdma4j.protocol.roce.wire;

import org.jspecify.annotations.NullMarked;
