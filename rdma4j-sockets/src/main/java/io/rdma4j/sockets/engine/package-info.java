// SPDX-License-Identifier: Apache-2.0
/**
 * Binds streams to queue pairs, and drives them: connecting, accepting, credits, ends. Uses the public API of {@code
 * rdma4j-api} alone, and knows no channels.
 *
 * <p>Start reading at {@link io.rdma4j.sockets.engine.SocketConnection} (one stream) and {@link
 * io.rdma4j.sockets.engine.SocketEngine} (the thread of all). ADR 65 says who drives.
 */
@NullMarked
package io.rdma4j.sockets.engine;

import org.jspecify.annotations.NullMarked;
