// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * How far a stream is, at one moment. Sizes are in bytes.
 *
 * @param readable what has arrived and was not read
 * @param unacknowledged what of the send buffer is in use
 * @param receiveCredits how many messages the peer may still send
 * @param sendCredits how many messages this side may still send
 * @param receiveRoom how much of the receive buffer the peer may still fill
 * @param sendRoom how much of the peer's receive buffer this side may still fill
 * @param receivedBytes how many bytes of the stream have arrived
 * @param sentBytes how many bytes of the stream were sent
 * @param mappedBytes how many bytes were written to mappings of the peer
 * @param receiveBuffer the size of the receive buffer
 * @param sendBuffer the size of the send buffer
 */
public record StreamFigures(int readable, int unacknowledged, int receiveCredits, int sendCredits,
        long receiveRoom, long sendRoom, long receivedBytes, long sentBytes, long mappedBytes,
        int receiveBuffer, int sendBuffer) {
    /** {@return those of a connection that is being made} */
    public static StreamFigures ofNone(StreamSettings settings) {
        return new StreamFigures(0, 0, 0, 0, 0, 0, 0, 0, 0, settings.receiveBytes(),
                settings.sendBytes());
    }
}
