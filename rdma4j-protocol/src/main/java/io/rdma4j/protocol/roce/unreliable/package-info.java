/**
 * Unreliable service: messages arrive once or not at all, and nobody answers.
 *
 * <p>{@link io.rdma4j.protocol.roce.unreliable.UnreliableQueuePair} holds what both kinds share, the state and the
 * send queue; start reading there. {@link io.rdma4j.protocol.roce.unreliable.UcQueuePair} is the connection, whose
 * messages may be long; {@link io.rdma4j.protocol.roce.unreliable.UdQueuePair} the datagram, one packet to anybody.
 * Source: IBTA 9.8. Knows no thread, socket or clock.
 */
@NullMarked
package io.rdma4j.protocol.roce.unreliable;

import org.jspecify.annotations.NullMarked;
