/**
 * The network on Linux: sockets by system calls through the Foreign Function &amp; Memory API, for features that the
 * JDK's channels lack.
 *
 * <p>{@link io.rdma4j.softnic.network.linux.LinuxNetwork} makes a {@link io.rdma4j.softnic.network.linux.LinuxPort} for
 * each local address, {@link io.rdma4j.softnic.network.linux.LinuxStreams} makes TCP connections, and
 * {@link io.rdma4j.softnic.network.linux.SharedPort} lets the processes of one user share addresses.
 * {@link io.rdma4j.softnic.network.linux.LinuxCalls} has a method for each function of the C library. Knows
 * packets and addresses, no queue pair. Nothing outside of this package asks which operating system this is: before a
 * device is opened, {@link io.rdma4j.softnic.network.linux.LinuxNetwork#obstacle} or
 * {@link io.rdma4j.softnic.network.linux.LinuxStreams#obstacle} says why this package cannot be used here.
 */
@NullMarked
package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.NullMarked;
