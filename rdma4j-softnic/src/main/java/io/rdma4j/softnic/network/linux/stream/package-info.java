// SPDX-License-Identifier: Apache-2.0
/**
 * TCP connections for iWARP: {@link io.rdma4j.softnic.network.linux.stream.LinuxStreams} makes them, all wait in one epoll set.
 * Knows bytes and addresses, no unit of the protocol. Before a device is opened, {@link
 * io.rdma4j.softnic.network.linux.stream.LinuxStreams#obstacle} says why this package cannot be used here.
 */
@NullMarked
package io.rdma4j.softnic.network.linux.stream;

import org.jspecify.annotations.NullMarked;
