// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A queue pair changed its state. */
@Name("io.rdma4j.QueuePairState")
@Label("Queue Pair State")
@Category("rdma4j")
@Description("A queue pair changed its state.")
@StackTrace(false)
final class QueuePairStateEvent extends Event {
    /** Asked whether anybody records. */
    static final QueuePairStateEvent PROBE = new QueuePairStateEvent();

    @Label("Device")
    @Description("Its name")
    @Nullable
    String device;

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 for none")
    int queuePair;

    @Label("From")
    @Description("The state before")
    @Nullable
    String from;

    @Label("To")
    @Description("The state now")
    @Nullable
    String to;

    @Label("Cause")
    @Description("MODIFY for the application, CONNECTION for the kernel as it connects, QUERY for what was found when the device was asked, TERMINATE with what was wrong where an iWARP connection ended because of an error, otherwise the status or event that made it fail")
    @Nullable
    String cause;
}
