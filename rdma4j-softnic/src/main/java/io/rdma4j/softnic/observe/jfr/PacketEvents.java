// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.observe.jfr;

import io.rdma4j.observe.jfr.EventClasses;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.verbs.Gid;

import java.util.List;

/**
 * Reports what happens to packets to Java Flight Recorder, if it records. Until the recorder starts, each call only reads a
 * flag; while nothing is recorded, no call allocates. Thread safe.
 */
public final class PacketEvents {
    private static final EventClasses CLASSES = new EventClasses(
            () -> List.of(RetransmissionEvent.class, ReceiverNotReadyEvent.class,
                    DropEvent.class));

    private PacketEvents() {}

    /** A device is opened, see {@link EventClasses#prepare}. */
    public static void prepare() {
        CLASSES.prepare();
    }

    /** A device is closed, see {@link EventClasses#forget}. */
    public static void forget() {
        CLASSES.forget();
    }

    /** A queue pair sends again from a packet on. */
    public static void retransmission(int queuePair, int psn, RetransmissionCause cause) {
        if (EventClasses.isStarted() && RetransmissionEvent.PROBE.isEnabled()) {
            RetransmissionEvent event = new RetransmissionEvent();
            event.queuePair = queuePair;
            event.psn = psn;
            event.cause = cause.name();
            event.commit();
        }
    }

    /** One side had no receive posted. */
    public static void receiverNotReady(int queuePair, boolean isOwn) {
        if (EventClasses.isStarted() && ReceiverNotReadyEvent.PROBE.isEnabled()) {
            ReceiverNotReadyEvent event = new ReceiverNotReadyEvent();
            event.queuePair = queuePair;
            event.side = isOwn ? "this" : "peer";
            event.commit();
        }
    }

    /**
     * A received packet was dropped.
     *
     * @param queuePair the number of its destination queue pair, 0 if there is none
     */
    public static void drop(Counter reason, Gid source, int queuePair) {
        if (EventClasses.isStarted() && DropEvent.PROBE.isEnabled()) {
            DropEvent event = new DropEvent();
            if (event.shouldCommit()) {
                event.reason = reason.text();
                event.source = source.address().getHostAddress();
                event.queuePair = queuePair;
                event.commit();
            }
        }
    }
}
