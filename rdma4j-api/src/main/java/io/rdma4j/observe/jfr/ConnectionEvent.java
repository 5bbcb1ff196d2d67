// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A connection began, was refused, or ended. */
@Name("io.rdma4j.Connection")
@Label("Connection")
@Category("rdma4j")
@Description("A connection began, was refused, or ended.")
@StackTrace(false)
final class ConnectionEvent extends Event {
    /** Asked whether anybody records. */
    static final ConnectionEvent PROBE = new ConnectionEvent();

    @Label("Outcome")
    @Description("ESTABLISHED, REJECTED, UNREACHABLE or DISCONNECTED")
    @Nullable
    String outcome;

    @Label("Local Address")
    @Description("Address and port of this side")
    @Nullable
    String local;

    @Label("Remote Address")
    @Description("Address and port of the peer")
    @Nullable
    String remote;

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 for none")
    int queuePair;

    @Label("Reason")
    @Description("Of a rejection, as the connection manager numbers it")
    int reason;
}
