// SPDX-License-Identifier: Apache-2.0
/**
 * Connects the IB connection manager to a device: listeners, connections and datagram look-ups. Each call runs as the
 * owner of the engine. Start reading at {@link io.rdma4j.softnic.ibcm.IbConnections}.
 */
@NullMarked
package io.rdma4j.softnic.ibcm;

import org.jspecify.annotations.NullMarked;
