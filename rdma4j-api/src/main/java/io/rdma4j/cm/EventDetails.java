// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** The contents of an event besides its type. */
record EventDetails(int status, @Nullable ConnectionParameters connection,
        @Nullable DatagramParameters datagram, long argument, @Nullable Object joinContext,
        @Nullable RdmaException cause, @Nullable Refusal refusal, @Nullable String otherDevice) {
    static final EventDetails NONE = new EventDetails(0, null, null, 0, null, null, null);

    private EventDetails(int status, @Nullable ConnectionParameters connection,
            @Nullable DatagramParameters datagram, long argument, @Nullable Object joinContext,
            @Nullable RdmaException cause, @Nullable Refusal refusal) {
        this(status, connection, datagram, argument, joinContext, cause, refusal, null);
    }

    static EventDetails failure(RdmaException cause) {
        return new EventDetails(-cause.errno().number(), null, null, 0, null, cause, null);
    }

    static EventDetails failure(int status) {
        return new EventDetails(status, null, null, 0, null, null, null);
    }

    /** {@return those of an event that this version does not know} */
    static EventDetails unknown(int status) {
        return failure(status);
    }

    static EventDetails refusal(Refusal refusal) {
        return new EventDetails(refusal.code(),
                new ConnectionParameters().privateData(refusal.privateData()), null, 0, null, null,
                refusal);
    }

    static EventDetails of(@Nullable ConnectionParameters connection) {
        return new EventDetails(0, connection, null, 0, null, null, null);
    }

    static EventDetails of(DatagramParameters datagram) {
        return new EventDetails(0, null, datagram, 0, null, null, null);
    }

    static EventDetails joined(DatagramParameters group, @Nullable Object joinContext) {
        return new EventDetails(0, null, group, 0, joinContext, null, null);
    }

    static EventDetails notJoined(RdmaException cause, @Nullable Object joinContext) {
        return new EventDetails(-cause.errno().number(), null, null, 0, joinContext, cause, null);
    }

    static EventDetails user(int status, long argument) {
        return new EventDetails(status, null, null, argument, null, null, null);
    }

    /** {@return these, of a request that found nobody where another device, if not null, sees a listener} */
    EventDetails with(@Nullable String device) {
        return new EventDetails(status, connection, datagram, argument, joinContext, cause,
                refusal, device);
    }

    /** {@return the bytes of the peer's application} */
    byte[] privateData() {
        if (connection != null) {
            return connection.privateData();
        }
        return datagram == null ? new byte[0] : datagram.privateData();
    }
}
