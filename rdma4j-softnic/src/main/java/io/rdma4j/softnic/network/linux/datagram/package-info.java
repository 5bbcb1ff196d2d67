// SPDX-License-Identifier: Apache-2.0
/**
 * The network of RoCE devices on Linux: {@link io.rdma4j.softnic.network.linux.datagram.LinuxNetwork} makes a {@link
 * io.rdma4j.softnic.network.linux.datagram.LinuxPort} for each local address, which sends by {@link
 * io.rdma4j.softnic.network.linux.datagram.Flow}s and receives {@link io.rdma4j.softnic.network.linux.datagram.Arrivals}. Knows
 * packets and addresses, no queue pair. Before a device is opened, {@link
 * io.rdma4j.softnic.network.linux.datagram.LinuxNetwork#obstacle} says why this package cannot be used here.
 */
@NullMarked
package io.rdma4j.softnic.network.linux.datagram;

import org.jspecify.annotations.NullMarked;
