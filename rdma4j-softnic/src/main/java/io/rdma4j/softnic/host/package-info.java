// SPDX-License-Identifier: Apache-2.0
/**
 * The one place that knows the network interfaces of this machine: which there are, whether they are up, and their addresses
 * with the state of each.
 *
 * <p>A {@link io.rdma4j.softnic.host.Host} is what was seen at one moment. {@link io.rdma4j.softnic.host.HostWatch} has the
 * present one and reports changes. A {@link io.rdma4j.softnic.host.HostSource} asks the system: by notifications of Linux
 * where it can, otherwise by the JDK once a second. Knows no device and no transport.
 */
@NullMarked
package io.rdma4j.softnic.host;

import org.jspecify.annotations.NullMarked;
