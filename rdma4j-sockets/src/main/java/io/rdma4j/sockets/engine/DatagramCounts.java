// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.observe.jfr.SocketEvents;

/** What a datagram endpoint has sent and received. Not thread safe: its endpoint guards it. */
final class DatagramCounts {
    private long sent;
    private long sentBytes;
    private long introduced;
    private long received;
    private long receivedBytes;
    private long dropped;

    /** A datagram was sent, over UDP or over RDMA. */
    void onSent(long bytes, boolean isIntroduction) {
        sent++;
        sentBytes += bytes;
        introduced += isIntroduction ? 1 : 0;
    }

    /** One has arrived for the application. */
    void onReceived(long bytes) {
        received++;
        receivedBytes += bytes;
    }

    /** Something has arrived that the application does not get. */
    void onDropped() {
        dropped++;
    }

    SocketEvents.Datagrams now() {
        return new SocketEvents.Datagrams(sent, sentBytes, introduced, received, receivedBytes,
                dropped);
    }
}
