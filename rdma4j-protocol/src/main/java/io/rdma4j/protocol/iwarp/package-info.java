/**
 * iWARP as state machines: how two sides of a byte stream agree on a connection, and what a queue pair then sends and does
 * with what arrives.
 *
 * <p>{@link io.rdma4j.protocol.iwarp.IwarpQueuePair} is the place to start: bytes of the stream and {@code nowNs} go in;
 * units to send, completions and the next deadline come out. {@link io.rdma4j.protocol.iwarp.MpaInitiator} and
 * {@link io.rdma4j.protocol.iwarp.MpaResponder} come before it on the same stream. Knows no socket.
 */
@NullMarked
package io.rdma4j.protocol.iwarp;

import org.jspecify.annotations.NullMarked;
