/**
 * RoCE as the transport of a device: packets between a datagram network and the queue pairs.
 *
 * <p>Start reading at {@link io.rdma4j.softnic.roce.RoceTransport}, what the verbs' objects see, and at
 * {@code RoceLink}, what the engine sees. Another transport is another package beside this one.
 */
@NullMarked
package io.rdma4j.softnic.roce;

import org.jspecify.annotations.NullMarked;
