/**
 * The connection manager: addresses, routes, connections, datagram services, multicast groups.
 *
 * <p>What librdmacm is to a C program. {@link io.rdma4j.cm.CmId} plays the part of a socket,
 * {@link io.rdma4j.cm.EventChannel} delivers what happens to it. Devices do the talking through
 * {@code io.rdma4j.spi}; nothing here knows a wire. Start reading at {@link io.rdma4j.cm.CmId}; the classes {@code Id…} are its
 * parts, one a role.
 */
@NullMarked
package io.rdma4j.cm;

import org.jspecify.annotations.NullMarked;
