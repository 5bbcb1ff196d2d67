// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A peer of a socket of datagrams has said which queue pair it has: from now on datagrams to it go over RDMA. */
@Name("io.rdma4j.DatagramPeer")
@Label("Datagram Peer")
@Category("rdma4j")
@Description("A peer of a socket of datagrams has said which queue pair it has: from now on"
        + " datagrams to it go over RDMA.")
@StackTrace(false)
final class DatagramPeerEvent extends Event {
    /** Asked whether anybody records. */
    static final DatagramPeerEvent PROBE = new DatagramPeerEvent();

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
    @Description("Number of this side's queue pair")
    int queuePair;

    @Label("Rule")
    @Description("By which it goes over RDMA, empty if no rules have decided")
    @Nullable
    String rule;

    @Label("Remote Queue Pair")
    @Description("Number of the peer's queue pair")
    int remoteQueuePair;
}
