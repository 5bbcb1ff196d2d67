// SPDX-License-Identifier: Apache-2.0
/**
 * What two sides tell each other when they connect.
 *
 * <p>These values are shared by the connection manager and the devices: parameters of connections and datagram
 * services, port spaces, limits of private data, and InfiniBand's reasons to refuse. Knows only the values of the verbs.
 * Start reading at {@link io.rdma4j.connection.ConnectionParameters}; {@code io.rdma4j.cm} uses them.
 */
@NullMarked
package io.rdma4j.connection;

import org.jspecify.annotations.NullMarked;
