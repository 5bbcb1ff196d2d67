// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.util.List;

/**
 * What one look at the sockets of a process shows.
 *
 * @param pid its number
 * @param program its main class or jar
 * @param listeners those it has open
 * @param connections likewise
 * @param datagrams its sockets of datagrams
 */
record SocketsReading(long pid, String program, List<ListenerReading> listeners,
        List<ConnectionReading> connections, List<DatagramReading> datagrams) implements Reading {
    @Override
    public boolean isEmpty() {
        return listeners.isEmpty() && connections.isEmpty() && datagrams.isEmpty();
    }
}
