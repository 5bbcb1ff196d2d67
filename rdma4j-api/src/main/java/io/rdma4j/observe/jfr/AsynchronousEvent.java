// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A device reported something that no completion reports. */
@Name("io.rdma4j.AsyncEvent")
@Label("Asynchronous Event")
@Category("rdma4j")
@Description("A device reported something that no completion reports.")
@StackTrace(false)
final class AsynchronousEvent extends Event {
    /** Asked whether anybody records. */
    static final AsynchronousEvent PROBE = new AsynchronousEvent();

    @Label("Device")
    @Description("Its name")
    @Nullable
    String device;

    @Label("Type")
    @Description("As QP_FATAL, CQ_ERROR or PORT_ERROR")
    @Nullable
    String type;

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 if it is not about one")
    int queuePair;

    @Label("Port")
    @Description("Number of the port, 0 if it is not about one")
    int port;
}
