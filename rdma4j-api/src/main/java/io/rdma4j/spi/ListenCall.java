package io.rdma4j.spi;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.StandardProtocolFamily;

/**
 * What a listener offers.
 *
 * @param space the port space
 * @param type RC or UC for connections, UD for a datagram service
 * @param port the port
 * @param address one of the device's addresses, or null for all
 * @param family the only IP version that is served, or null for both
 * @param backlog requests that may wait unanswered; further ones are rejected
 */
public record ListenCall(PortSpace space, QueuePairType type, int port,
        @Nullable InetAddress address, @Nullable StandardProtocolFamily family, int backlog) {}
