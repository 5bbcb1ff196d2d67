// SPDX-License-Identifier: Apache-2.0
/**
 * The system's routing: {@link io.rdma4j.softnic.network.linux.route.RouteSocket} tells of changes of interfaces and addresses,
 * {@link io.rdma4j.softnic.network.linux.route.Ways} where the packets of a device have to name its interface (ADR 52).
 */
@NullMarked
package io.rdma4j.softnic.network.linux.route;

import org.jspecify.annotations.NullMarked;
