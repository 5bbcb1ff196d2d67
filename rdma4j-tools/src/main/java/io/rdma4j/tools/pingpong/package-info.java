/**
 * The ping-pong tools of libibverbs under their own names, able to play against the C programs.
 *
 * <p>Each tool is a small class that says what is special about it, a {@code Traffic}; the rest is shared:
 * {@code PingPongOptions} are the options of all, {@code AddressExchange} is the TCP conversation that makes the two sides
 * known to each other, {@code PingPongSide} holds the verbs' objects of one side, {@code PingPongLoop} plays,
 * {@code FinalBarrier} ends. Knows the API alone. Start reading at {@code PingPong}.
 */
@NullMarked
package io.rdma4j.tools.pingpong;

import org.jspecify.annotations.NullMarked;
