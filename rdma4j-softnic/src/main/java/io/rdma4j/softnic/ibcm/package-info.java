/**
 * The IB connection manager as a device offers it: listeners, connections and datagram look-ups, each call made as the
 * owner of the engine. {@link io.rdma4j.softnic.ibcm.IbConnections} is where to start.
 */
@NullMarked
package io.rdma4j.softnic.ibcm;

import org.jspecify.annotations.NullMarked;
