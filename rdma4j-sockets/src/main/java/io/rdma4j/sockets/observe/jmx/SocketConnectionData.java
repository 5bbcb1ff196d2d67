// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jmx;

/**
 * A connection as JMX shows it. Sizes are in bytes.
 *
 * @param device the name of its device
 * @param queuePair the number of its queue pair, by which the bean of the device tells more: the way of its messages, counters
 * @param side {@code connect} if this side has connected, {@code accept} if it was connected to
 * @param state {@code CONNECTING}; {@code ESTABLISHED}; {@code INPUT_ENDED} if no more bytes come, {@code OUTPUT_ENDED} if none
 *        can be written, {@code ENDED} if both; {@code BROKEN} if it was reset or lost; {@code CLOSING} after this side has
 *        closed it, while its last bytes leave
 * @param localAddress this side's address
 * @param localPort its port
 * @param peerAddress the peer's address
 * @param peerPort its port
 * @param receiveBuffer the size of the receive buffer
 * @param sendBuffer the size of the send buffer
 * @param readable what has arrived and was not read
 * @param unacknowledged what is in the send buffer because the peer's device has not acknowledged it; bytes that are sent
 *        inline never are
 * @param receiveCredits how many messages the peer may still send
 * @param sendCredits how many messages this side may still send
 * @param receiveRoom how much of the receive buffer the peer may still fill
 * @param sendRoom how much of the peer's receive buffer this side may still fill
 * @param receivedBytes how many bytes of the stream have arrived
 * @param sentBytes how many bytes of the stream were sent
 * @param mappedBytes how many bytes were written to memory that the peer has mapped
 * @param keepaliveSeconds after which time an idle peer is probed, 0 for never
 * @param rule by which it goes over RDMA, as it was written: of the side that connects the one for that address, of the other the listener's; empty if no rules have decided
 * @param ageMs how long it has been established, in milliseconds; 0 if it is not
 * @since 0.1.0
 */
public record SocketConnectionData(String device, int queuePair, String side, String state,
        String localAddress, int localPort, String peerAddress, int peerPort, int receiveBuffer,
        int sendBuffer, int readable, int unacknowledged, int receiveCredits, int sendCredits,
        long receiveRoom, long sendRoom, long receivedBytes, long sentBytes, long mappedBytes,
        int keepaliveSeconds, String rule, long ageMs) {}
