// SPDX-License-Identifier: Apache-2.0
/**
 * iWARP as state machines: how the two sides of a byte stream set a connection up, and how a queue pair then sends and
 * receives on it.
 *
 * <p>Start reading at {@link io.rdma4j.protocol.iwarp.IwarpQueuePair}: bytes of the stream and {@code nowNs} go in;
 * units to send, completions and the next deadline come out. Before that,
 * {@link io.rdma4j.protocol.iwarp.MpaInitiator} and {@link io.rdma4j.protocol.iwarp.MpaResponder} use the same stream.
 * Knows no socket.
 */
@NullMarked
package io.rdma4j.protocol.iwarp;

import org.jspecify.annotations.NullMarked;
