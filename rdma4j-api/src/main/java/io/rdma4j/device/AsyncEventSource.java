// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous events of one object, or of a port or the whole device, which are recorded, too. Thread safe.
 */
public final class AsyncEventSource {
    private final AsyncEvents events;
    private final String device;
    private final @Nullable Object subject;

    /**
     * @param device the name of its device
     * @param subject the object, null for the port or the whole device
     */
    public AsyncEventSource(DeviceEventChannel channel, String device, @Nullable Object subject) {
        events = new AsyncEvents(channel, subject);
        this.device = device;
        this.subject = subject;
    }

    /** As {@link AsyncEvents#ofObject}. */
    public UnacknowledgedEvents ofObject() {
        return events.ofObject();
    }

    /** As {@link AsyncEvents#publish}. */
    public void publish(AsyncEventType type, int port) {
        int number = subject instanceof QueuePair queuePair ? queuePair.number() : 0;
        FlightEvents.asyncEvent(device, type, number, port);
        events.publish(type, port);
    }

    /** As {@link AsyncEvents#publishUnknown}. */
    public void publishUnknown(int code) {
        FlightEvents.asyncEvent(device, AsyncEventType.UNKNOWN, 0, 0);
        events.publishUnknown(code);
    }

    /**
     * As {@link AsyncEvents#end}.
     *
     * @throws RdmaException EBUSY if an event was taken and not acknowledged
     */
    public void end(String operation) throws RdmaException {
        events.end(operation);
    }

    /** As {@link AsyncEvents#abandon}. */
    public void abandon() {
        events.abandon();
    }
}
