package io.rdma4j.spi;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.QueuePairType;

import java.net.InetSocketAddress;

/**
 * What an active side asks for.
 *
 * @param space the port space of both ports
 * @param type RC or UC for a connection, UD to look up a datagram service
 * @param source the local address and port
 * @param destination the listener's address and port
 * @param parameters what the application set
 * @param queuePairNumber the local queue pair
 * @param options what else it chose
 */
public record ConnectCall(PortSpace space, QueuePairType type, InetSocketAddress source,
        InetSocketAddress destination, ConnectionParameters parameters, int queuePairNumber,
        CmOptions options) {}
