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

/** A queue pair sends again packets that may have been lost. */
@Name("io.rdma4j.Retransmission")
@Label("Retransmission")
@Category("rdma4j")
@Description("A queue pair sends again what may have been lost.")
@StackTrace(false)
@Throttle("1000/s")
final class RetransmissionEvent extends Event {
    /** Used to check whether this event is being recorded. */
    static final RetransmissionEvent PROBE = new RetransmissionEvent();

    @Label("Queue Pair")
    @Description("Number of the queue pair, 0 for none")
    int queuePair;

    @Label("PSN")
    @Description("The first packet that is sent again")
    int psn;

    @Label("Cause")
    @Description("TIMEOUT, RTT_ESTIMATE, PROBE, SEQUENCE_NAK or IMPLIED_NAK")
    @Nullable
    String cause;
}
