// SPDX-License-Identifier: Apache-2.0
/**
 * The rsocket protocol of librdmacm as a state machine: which WRITEs and messages make a stream, who may send how much, and
 * how it ends. It knows no verbs, no memory, no thread and no clock: numbers go in, {@link
 * io.rdma4j.sockets.protocol.Transmission}s come out.
 *
 * <p>Start reading at {@link io.rdma4j.sockets.protocol.RsocketStream}. Source: librdmacm's {@code docs/rsocket}.
 */
@NullMarked
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.NullMarked;
