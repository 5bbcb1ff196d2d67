// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jmx;

/**
 * A listener as JMX shows it.
 *
 * @param localAddress the address it is bound to, perhaps the wildcard address
 * @param localPort its port
 * @param backlog how many connections may stand that the application has not accepted
 * @param waiting how many do
 * @param answered how many more have been answered and do not stand yet
 * @param rule by which it listens over RDMA, as it was written; empty if no rules have decided
 * @since 0.1.0
 */
public record SocketListenerData(String localAddress, int localPort, int backlog, int waiting,
        int answered, String rule) {}
