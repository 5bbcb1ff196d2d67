// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jmx;

/**
 * A queue pair of a socket of datagrams.
 *
 * @param device the name of its device
 * @param queuePair its number, by which the bean of the device tells more
 * @param address the local address that it is for
 * @since 0.1.0
 */
public record DatagramQueuePairData(String device, int queuePair, String address) {}
