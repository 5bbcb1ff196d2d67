// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.util.List;

/**
 * What one look at a socket of datagrams shows. Sizes are in bytes.
 *
 * @param local its address and port
 * @param peer the address and port it is connected to, {@code *} if it is not
 * @param receiveBuffer how much there is room for
 * @param sendBuffer how much can be on its way
 * @param waiting how many datagrams were not received
 * @param leaving how many are on their way
 * @param peers how many peers are remembered
 * @param receivedDatagrams how many have arrived
 * @param receivedBytes how many bytes they had
 * @param droppedDatagrams how many have arrived and were dropped
 * @param sentDatagrams how many were sent
 * @param sentBytes how many bytes they had
 * @param introducedDatagrams how many of them went over UDP
 * @param rule by which they go over RDMA, empty if no rules have decided
 * @param ageMs since when it is bound, in milliseconds
 * @param queuePairs those it has
 */
record DatagramReading(String local, String peer, int receiveBuffer, int sendBuffer, int waiting,
        int leaving, int peers, long receivedDatagrams, long receivedBytes, long droppedDatagrams,
        long sentDatagrams, long sentBytes, long introducedDatagrams, String rule, long ageMs,
        List<QueuePair> queuePairs) {
    /**
     * A queue pair.
     *
     * @param device the name of its device
     * @param number its number
     * @param way how the last of its datagrams has travelled, empty if that is not known
     * @param address the local address that it is for
     */
    record QueuePair(String device, int number, String way, String address) {}
}
