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

/** A program has accepted a connection of a socket. */
@Name("io.rdma4j.SocketAccept")
@Label("Socket Accept")
@Category("rdma4j")
@Description("A program has accepted a connection of a socket.")
@StackTrace(false)
final class SocketAcceptEvent extends Event {
    /** Asked whether anybody records. */
    static final SocketAcceptEvent PROBE = new SocketAcceptEvent();

    @Label("Local Address")
    @Description("Address and port of this side")
    @Nullable
    String local;

    @Label("Remote Address")
    @Description("Address and port of the peer")
    @Nullable
    String remote;

    @Label("Device")
    @Description("Its name")
    @Nullable
    String device;

    @Label("Queue Pair")
    @Description("Number of the queue pair")
    int queuePair;

    @Label("Rule")
    @Description("By which it goes over RDMA, empty if no rules have decided")
    @Nullable
    String rule;

    @Label("Queued")
    @Description("How long it stood before it was accepted")
    @Timespan(Timespan.NANOSECONDS)
    long queued;
}
