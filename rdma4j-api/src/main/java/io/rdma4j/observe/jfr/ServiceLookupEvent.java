// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A datagram service was looked up, and answered or not. */
@Name("io.rdma4j.ServiceLookup")
@Label("Service Look-up")
@Category("rdma4j")
@Description("A datagram service was looked up, and answered or not.")
@StackTrace(false)
final class ServiceLookupEvent extends Event {
    /** Asked whether anybody records. */
    static final ServiceLookupEvent PROBE = new ServiceLookupEvent();

    @Label("Outcome")
    @Description("FOUND, REFUSED or UNREACHABLE")
    @Nullable
    String outcome;

    @Label("Side")
    @Description("Who asked: this or peer")
    @Nullable
    String side;

    @Label("Local Address")
    @Description("Address and port of this side")
    @Nullable
    String local;

    @Label("Remote Address")
    @Description("Address and port of the peer")
    @Nullable
    String remote;

    @Label("Queue Pair")
    @Description("Number of the service's queue pair, 0 unless it was found")
    int queuePair;

    @Label("Status")
    @Description("Of a refusal, as the connection manager numbers it")
    int status;
}
