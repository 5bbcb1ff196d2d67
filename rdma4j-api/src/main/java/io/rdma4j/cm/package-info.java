// SPDX-License-Identifier: Apache-2.0
/**
 * The connection manager: addresses, routes, connections, datagram services, multicast groups.
 *
 * <p>It does for a Java program what librdmacm does for a C program. {@link io.rdma4j.cm.CmId} plays the role of a
 * socket, and {@link io.rdma4j.cm.CmEventChannel} delivers its events. Devices exchange the messages, through
 * {@code io.rdma4j.spi}; this package knows no wire format. Start reading at {@link io.rdma4j.cm.CmId}; the classes
 * {@code Id…} are its parts, one for each role.
 */
@NullMarked
package io.rdma4j.cm;

import org.jspecify.annotations.NullMarked;
