// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs' objects: each checks its arguments and calls engine, memory and queues.
 *
 * <p>Every change of an object runs as the owner of the engine, so objects need no locks of their own. They know no
 * network, except to ask whether memory is mapped ({@code AddressSpace}), and no packet, except the 40 bytes before a
 * received datagram ({@code GlobalRouteHeader}).
 */
@NullMarked
package io.rdma4j.softnic.verbs;

import org.jspecify.annotations.NullMarked;
