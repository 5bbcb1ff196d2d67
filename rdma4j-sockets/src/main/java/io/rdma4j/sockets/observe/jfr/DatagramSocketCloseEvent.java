// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A socket of datagrams is closed, and its last datagrams have left. */
@Name("io.rdma4j.DatagramSocketClose")
@Label("Datagram Socket Close")
@Category("rdma4j")
@Description("A socket of datagrams is closed, and its last datagrams have left.")
@StackTrace(false)
final class DatagramSocketCloseEvent extends Event {
    /** Asked whether anybody records. */
    static final DatagramSocketCloseEvent PROBE = new DatagramSocketCloseEvent();

    @Label("Local Address")
    @Description("Address and port it was bound to")
    @Nullable
    String local;

    @Label("Remote Address")
    @Description("Address and port it was connected to, empty if it was not")
    @Nullable
    String remote;

    @Label("Rule")
    @Description("By which it goes over RDMA, empty if no rules have decided")
    @Nullable
    String rule;

    @Label("Lifetime")
    @Description("How long it was bound")
    @Timespan(Timespan.NANOSECONDS)
    long lifetime;

    @Label("Sent Datagrams")
    @Description("How many were sent")
    long sentDatagrams;

    @Label("Sent Bytes")
    @Description("How many bytes they had")
    @DataAmount
    long sentBytes;

    @Label("Introduced Datagrams")
    @Description("How many of those that were sent went over UDP, to introduce this side")
    long introducedDatagrams;

    @Label("Received Datagrams")
    @Description("How many have arrived")
    long receivedDatagrams;

    @Label("Received Bytes")
    @Description("How many bytes they had")
    @DataAmount
    long receivedBytes;

    @Label("Dropped Datagrams")
    @Description("How many have arrived and were dropped")
    long droppedDatagrams;

    @Label("Reason")
    @Description("Why it has failed, empty if it has not")
    @Nullable
    String reason;
}
