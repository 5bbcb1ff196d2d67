// SPDX-License-Identifier: Apache-2.0
/**
 * The unreliable services UC and UD: messages arrive once or not at all, and there are no acknowledgements.
 *
 * <p>{@link io.rdma4j.protocol.roce.unreliable.UnreliableQueuePair} has what both share, the state and the
 * send queue; start reading there. {@link io.rdma4j.protocol.roce.unreliable.UcQueuePair} is connected, and its
 * messages may have many packets. {@link io.rdma4j.protocol.roce.unreliable.UdQueuePair} sends datagrams, each of one
 * packet, to any peer. Source: IBTA 9.8. Knows no thread, socket or clock.
 */
@NullMarked
package io.rdma4j.protocol.roce.unreliable;

import org.jspecify.annotations.NullMarked;
