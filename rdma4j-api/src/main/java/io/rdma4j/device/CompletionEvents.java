// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The events of one completion queue in the channel it was created with. Thread safe.
 *
 * <p>A device that has channels of its own, such as one per {@code ibv_context}, waits for those by itself and
 * publishes here what came out of them.
 */
public final class CompletionEvents {
    private final EventQueue<CompletionQueue, RdmaException> events;
    private final UnacknowledgedEvents unacknowledged;
    /** Published again and again: announcing allocates nothing. */
    private final EventQueue.Published<CompletionQueue> event;
    private final ProgressDriver driver;

    private CompletionEvents(EventQueue<CompletionQueue, RdmaException> events,
            CompletionQueue queue, UnacknowledgedEvents unacknowledged, ProgressDriver driver) {
        this.events = events;
        this.unacknowledged = unacknowledged;
        event = new EventQueue.Published<>(queue, unacknowledged);
        this.driver = driver;
    }

    /**
     * {@return the events of a new completion queue}
     *
     * @param ofQueue counts all events of the queue; the queue is closed after its {@link UnacknowledgedEvents#end}
     * @param driver what threads that wait for the channel drive meanwhile; {@link ProgressDriver#NONE} for a device
     *        that goes on by itself
     * @throws RdmaException EBADF if the channel is closed
     */
    public static CompletionEvents attach(CompletionChannel channel, CompletionQueue queue,
            UnacknowledgedEvents ofQueue, ProgressDriver driver) throws RdmaException {
        EventQueue<CompletionQueue, RdmaException> events = EventQueue.of(channel);
        if (!events.attach()) {
            throw new RdmaClosedException("create completion queue",
                    "the completion channel is closed");
        }
        events.addDriver(driver);
        return new CompletionEvents(events, queue, ofQueue.ofKind(), driver);
    }

    /** Announces that completions arrived. */
    public void publish() {
        events.publish(event, driver);
    }

    /**
     * Acknowledges events of a completion queue, as {@link CompletionQueue#acknowledgeEvents}.
     *
     * @param events those of the queue; null if it has none, because it has no channel
     * @throws IllegalArgumentException if the number is negative, or fewer are taken and not acknowledged
     */
    public static void acknowledge(@Nullable CompletionEvents events, int count) {
        int unacknowledged = events == null ? 0 : events.unacknowledged.count();
        boolean isDone = events == null ? count == 0
                : count >= 0 && events.unacknowledged.acknowledge(count);
        if (!isDone) {
            throw new IllegalArgumentException("cannot acknowledge " + count + " event(s): "
                    + unacknowledged + " are not acknowledged");
        }
    }

    /** {@return whether the application waits for the channel in a selector, where it drives no device} */
    public boolean isSelectable() {
        return events.isSelectable();
    }

    /** The queue is closed: its events that no thread took are dropped. Once. */
    public void detach() {
        events.removeDriver(driver);
        events.discard(unacknowledged);
        events.detach();
    }
}
