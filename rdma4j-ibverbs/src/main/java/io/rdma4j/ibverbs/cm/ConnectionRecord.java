// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.observe.jfr.FlightEvents.Outcome;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;

/** Reports a connection to Java Flight Recorder. Queries the id only while connections are recorded. Thread safe. */
final class ConnectionRecord {
    private final NativeId id;
    private final @Nullable ConnectRequest request;
    private volatile int queuePair;

    /** @param request the request of this side, null if the peer requests the connection */
    ConnectionRecord(NativeId id, @Nullable ConnectRequest request) {
        this.id = id;
        this.request = request;
        queuePair = request == null ? 0 : request.queuePairNumber();
    }

    /** This side accepts with a queue pair. */
    void queuePair(int number) {
        queuePair = number;
    }

    /**
     * Reports the outcome.
     *
     * @param reason of a rejection, as the connection manager numbers it, otherwise 0
     */
    void report(Outcome outcome, int reason) {
        if (!FlightEvents.recordsConnections()) {
            return;
        }
        try {
            InetSocketAddress remote = request == null ? id.peer("record") : request.destination();
            FlightEvents.connection(outcome, id.local("record"), remote, queuePair, reason);
        } catch (RdmaException closed) {
            // The id was destroyed, and with it its addresses.
        }
    }
}
