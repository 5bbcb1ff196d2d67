/**
 * RoCE as the engine's link: packets between a datagram network and the queue pairs.
 *
 * <p>Start reading at {@link io.rdma4j.softnic.roce.RoceLink}. Another transport is another package beside this one.
 */
@NullMarked
package io.rdma4j.softnic.roce;

import org.jspecify.annotations.NullMarked;
