// SPDX-License-Identifier: Apache-2.0
/**
 * What Linux offers by system calls, through the Foreign Function &amp; Memory API, for features that the JDK's channels lack:
 * {@link io.rdma4j.softnic.network.linux.calls.LinuxCalls} and its like have a method for each function of the C library;
 * sockets, pages and the files of processes are made of them, and {@link
 * io.rdma4j.softnic.network.linux.calls.SocketPoller} waits for descriptors.
 *
 * <p>Knows numbers, addresses and structures of the C headers; no packet, no device. {@link
 * io.rdma4j.softnic.network.linux.calls.LinuxAccess} says whether this process can call Linux at all.
 */
@NullMarked
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.NullMarked;
