// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

/**
 * What one look at a connection of a socket shows. Sizes are in bytes.
 *
 * @param device the name of its device
 * @param queuePair the number of its queue pair
 * @param way how its messages travel, empty if that is not known
 * @param side whether this side has connected or accepted
 * @param state its state
 * @param local this side's address and port
 * @param peer the peer's
 * @param receiveBuffer size of the receive buffer
 * @param sendBuffer size of the send buffer
 * @param readable what was not read
 * @param unacknowledged what the peer's device has not acknowledged
 * @param receiveCredits how many messages the peer may send
 * @param sendCredits how many messages this side may send
 * @param receiveRoom how much the peer may send
 * @param sendRoom how much this side may send
 * @param receivedBytes how much has arrived
 * @param sentBytes how much was sent
 * @param mappedBytes how much was written to mapped memory
 * @param keepaliveSeconds 0 for none
 * @param rule by which it goes over RDMA, empty if no rules have decided
 * @param ageMs since when it is established, in milliseconds
 */
record ConnectionReading(String device, int queuePair, String way, String side, String state,
        String local, String peer, int receiveBuffer, int sendBuffer, int readable,
        int unacknowledged, int receiveCredits, int sendCredits, long receiveRoom, long sendRoom,
        long receivedBytes, long sentBytes, long mappedBytes, int keepaliveSeconds, String rule,
        long ageMs) {}
