// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;

/**
 * What an active side asks for: a connection, or a datagram service.
 *
 * @param space the port space of both ports
 * @param type RC or UC for a connection, UD to look up a datagram service
 * @param source the local address and port
 * @param port the reservation of the local port by the device's {@link PortAuthority}, null if it made none
 * @param destination the listener's address and port
 * @param parameters what the application set
 * @param queuePairNumber the local queue pair
 * @param options what else it chose
 */
public record ConnectRequest(PortSpace space, QueuePairType type, InetSocketAddress source,
        @Nullable PortReservation port, InetSocketAddress destination,
        ConnectionParameters parameters, int queuePairNumber, CmOptions options) {}
