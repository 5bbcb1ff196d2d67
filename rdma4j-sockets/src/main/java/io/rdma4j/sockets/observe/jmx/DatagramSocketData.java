// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jmx;

import java.util.List;

/**
 * A socket of datagrams as JMX shows it. Sizes are in bytes.
 *
 * @param localAddress the address it is bound to, perhaps the wildcard address
 * @param localPort its port
 * @param peerAddress the address it is connected to, empty if it is not
 * @param peerPort its port, 0 if it is not connected
 * @param receiveBuffer how much there is room for, in each queue pair
 * @param sendBuffer how much can be on its way, from each queue pair
 * @param waiting how many datagrams have arrived and were not received
 * @param leaving how many were sent and are on their way
 * @param peers how many peers are remembered
 * @param receivedDatagrams how many datagrams have arrived, with those that wait
 * @param receivedBytes how many bytes they had
 * @param droppedDatagrams how many have arrived and were dropped, because they are not of the peer it is connected to, there was no room for one that came over UDP, or
 *        they are no datagrams of a socket; the device does not tell which it had no room for
 * @param sentDatagrams how many datagrams were sent
 * @param sentBytes how many bytes they had
 * @param introducedDatagrams how many of those that were sent went over UDP, to introduce this side to a peer
 * @param rule by which they go over RDMA, as it was written; empty if no rules have decided
 * @param ageMs how long it is bound, in milliseconds
 * @param queuePairs of the local addresses it was used with
 * @since 0.1.0
 */
public record DatagramSocketData(String localAddress, int localPort, String peerAddress,
        int peerPort, int receiveBuffer, int sendBuffer, int waiting, int leaving, int peers,
        long receivedDatagrams, long receivedBytes, long droppedDatagrams, long sentDatagrams,
        long sentBytes, long introducedDatagrams, String rule, long ageMs,
        List<DatagramQueuePairData> queuePairs) {
    /** Takes a copy of the list. */
    public DatagramSocketData {
        queuePairs = List.copyOf(queuePairs);
    }
}
