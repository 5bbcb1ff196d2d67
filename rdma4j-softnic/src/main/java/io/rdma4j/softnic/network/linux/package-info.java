/**
 * The network on Linux: sockets through the Foreign Function &amp; Memory API, for what the JDK's channels do not
 * offer.
 *
 * <p>{@link io.rdma4j.softnic.network.linux.SharedPort} lets the processes of one user have the same addresses.
 *
 * <p>{@link io.rdma4j.softnic.network.linux.LinuxNetwork} makes a {@link io.rdma4j.softnic.network.linux.LinuxPort} for each local
 * address; {@link io.rdma4j.softnic.network.linux.LinuxCalls} is the C library, a method for each function. Knows
 * packets and addresses, no queue pair. Nothing outside asks what system this is: whoever opens a device
 * asks {@link io.rdma4j.softnic.network.linux.LinuxNetwork#obstacle} or
 * {@link io.rdma4j.softnic.network.linux.LinuxStreams#obstacle} first, which has TCP connections for byte streams.
 */
@NullMarked
package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.NullMarked;
