/**
 * RoCE devices: packets between a datagram network and the queue pairs.
 *
 * <p>{@link io.rdma4j.softnic.roce.RoceFamily} says what such devices are and opens one. Start reading at {@link io.rdma4j.softnic.roce.RoceTransport}, what the verbs' objects see, and at
 * {@code RoceLink}, what the engine sees. Another transport is another package beside this one.
 */
@NullMarked
package io.rdma4j.softnic.roce;

import org.jspecify.annotations.NullMarked;
