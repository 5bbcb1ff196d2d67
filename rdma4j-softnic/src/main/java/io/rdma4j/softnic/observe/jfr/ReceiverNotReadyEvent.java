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

/** A message arrived and no receive was posted for it. */
@Name("io.rdma4j.ReceiverNotReady")
@Label("Receiver Not Ready")
@Category("rdma4j")
@Description("A message came and no receive was posted for it.")
@StackTrace(false)
@Throttle("1000/s")
final class ReceiverNotReadyEvent extends Event {
    /** Used to check whether this event is being recorded. */
    static final ReceiverNotReadyEvent PROBE = new ReceiverNotReadyEvent();

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 for none")
    int queuePair;

    @Label("Side")
    @Description("Whose receive was missing: this or peer")
    @Nullable
    String side;
}
