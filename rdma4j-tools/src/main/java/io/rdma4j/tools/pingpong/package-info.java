// SPDX-License-Identifier: Apache-2.0
/**
 * The ping-pong tools of libibverbs under their own names; they interoperate with the C programs.
 *
 * <p>Each tool is a small class with only what is special about it, a {@code Traffic}. The rest is shared:
 * {@code PingPongOptions} has the options of all tools, {@code AddressExchange} exchanges addresses over TCP,
 * {@code PingPongSide} has the verbs' objects of one side, {@code PingPongLoop} sends and receives the messages, and
 * {@code FinalBarrier} lets both sides end together. Knows only the API and the shared parts of the tools. Start reading
 * at {@code PingPong}.
 */
@NullMarked
package io.rdma4j.tools.pingpong;

import org.jspecify.annotations.NullMarked;
