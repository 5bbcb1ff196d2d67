// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A socket has connected, or could not. */
@Name("io.rdma4j.SocketConnect")
@Label("Socket Connect")
@Category("rdma4j")
@Description("A socket has connected, or could not.")
@StackTrace(false)
final class SocketConnectEvent extends Event {
    /** Asked whether anybody records. */
    static final SocketConnectEvent PROBE = new SocketConnectEvent();

    @Label("Outcome")
    @Description("ESTABLISHED, FAILED or CANCELLED")
    @Nullable
    String outcome;

    @Label("Local Address")
    @Description("Address and port of this side, empty if it got none")
    @Nullable
    String local;

    @Label("Remote Address")
    @Description("Address and port of the peer")
    @Nullable
    String remote;

    @Label("Device")
    @Description("Its name, empty if there was none")
    @Nullable
    String device;

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 for none")
    int queuePair;

    @Label("Rule")
    @Description("By which it goes over RDMA, empty if no rules have decided")
    @Nullable
    String rule;

    @Label("Elapsed")
    @Description("How long it took")
    @Timespan(Timespan.NANOSECONDS)
    long elapsed;

    @Label("Reason")
    @Description("Of a failure, otherwise empty")
    @Nullable
    String reason;
}
