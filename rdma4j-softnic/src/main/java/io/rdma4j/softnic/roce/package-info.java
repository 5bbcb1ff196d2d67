// SPDX-License-Identifier: Apache-2.0
/**
 * RoCE devices: they pass packets between a datagram network and queue pairs.
 *
 * <p>{@link io.rdma4j.softnic.roce.RoceFamily} describes such devices and opens one. Start reading at
 * {@link io.rdma4j.softnic.roce.RoceTransport}, which the verbs' objects use, and at
 * {@code RoceLink}, which the engine uses. Another transport is another package beside this one.
 */
@NullMarked
package io.rdma4j.softnic.roce;

import org.jspecify.annotations.NullMarked;
