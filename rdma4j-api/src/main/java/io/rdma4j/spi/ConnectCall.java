package io.rdma4j.spi;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;

import java.net.InetSocketAddress;

/**
 * What an active side asks for.
 *
 * @param space the port space of both ports
 * @param source the local address and port
 * @param destination the listener's address and port
 * @param parameters what the application set
 * @param queuePairNumber the local queue pair
 */
public record ConnectCall(PortSpace space, InetSocketAddress source, InetSocketAddress destination,
        ConnectionParameters parameters, int queuePairNumber) {}
