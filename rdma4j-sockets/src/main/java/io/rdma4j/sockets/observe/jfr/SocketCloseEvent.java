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

/** A socket that was connected is closed, and its last bytes have left or are lost. */
@Name("io.rdma4j.SocketClose")
@Label("Socket Close")
@Category("rdma4j")
@Description("A socket that was connected is closed, and its last bytes have left or are lost.")
@StackTrace(false)
final class SocketCloseEvent extends Event {
    /** Asked whether anybody records. */
    static final SocketCloseEvent PROBE = new SocketCloseEvent();

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

    @Label("Lifetime")
    @Description("How long it was connected")
    @Timespan(Timespan.NANOSECONDS)
    long lifetime;

    @Label("Sent Bytes")
    @Description("How many bytes of the stream were sent")
    @DataAmount(DataAmount.BYTES)
    long sentBytes;

    @Label("Received Bytes")
    @Description("How many bytes of the stream have arrived")
    @DataAmount(DataAmount.BYTES)
    long receivedBytes;

    @Label("Mapped Bytes")
    @Description("How many bytes were written to mapped memory of the peer")
    @DataAmount(DataAmount.BYTES)
    long mappedBytes;

    @Label("End")
    @Description("CLOSED by this side first, CLOSED_BY_PEER, ABORTED by this side without waiting for its last bytes, GIVEN_UP because the peer did not take them in time, or BROKEN")
    @Nullable
    String end;

    @Label("Reason")
    @Description("Of one that is BROKEN, otherwise empty")
    @Nullable
    String reason;
}
