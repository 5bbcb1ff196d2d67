// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;
import org.jspecify.annotations.Nullable;

/** Something that arrived was dropped. */
@Name("io.rdma4j.Drop")
@Label("Drop")
@Category("rdma4j")
@Description("Something that arrived was dropped.")
@StackTrace(false)
@Throttle("100/s")
final class DropEvent extends Event {
    /** Used to check whether this event is being recorded. */
    static final DropEvent PROBE = new DropEvent();

    @Label("Reason")
    @Description("The counter that counts it")
    @Nullable
    String reason;

    @Label("Source")
    @Description("The address it came from")
    @Nullable
    String source;

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 for none")
    int queuePair;

}
