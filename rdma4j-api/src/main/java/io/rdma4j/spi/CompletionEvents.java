package io.rdma4j.spi;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * The events of one completion queue in the channel it was created with. Thread safe.
 *
 * <p>A device that has channels of its own, such as one per {@code ibv_context}, waits for those by itself and
 * publishes here what came out of them.
 */
public final class CompletionEvents {
    private final EventQueue<CompletionQueue, RdmaException> events;
    private final CompletionQueue queue;
    private final ProgressDriver driver;

    private CompletionEvents(EventQueue<CompletionQueue, RdmaException> events,
            CompletionQueue queue, ProgressDriver driver) {
        this.events = events;
        this.queue = queue;
        this.driver = driver;
    }

    /**
     * {@return the events of a new completion queue}
     *
     * @param driver what threads that wait for the channel drive meanwhile; {@link ProgressDriver#NONE} for a device
     *        that goes on by itself
     * @throws RdmaException EBADF if the channel is closed
     */
    public static CompletionEvents attach(CompletionChannel channel, CompletionQueue queue,
            ProgressDriver driver) throws RdmaException {
        EventQueue<CompletionQueue, RdmaException> events = EventQueue.of(channel);
        if (!events.attach()) {
            throw new RdmaException(Errno.EBADF, "create completion queue",
                    "the completion channel is closed");
        }
        events.addDriver(driver);
        return new CompletionEvents(events, queue, driver);
    }

    /** Announces that completions arrived. */
    public void publish() {
        events.publish(queue);
    }

    /** {@return how many events no thread has taken} */
    public int untaken() {
        return events.count(queue::equals);
    }

    /** {@return whether the application waits for the channel in a selector, where it drives no device} */
    public boolean isSelectable() {
        return events.isSelectable();
    }

    /** The queue is closed: its events that no thread took are dropped. Once. */
    public void detach() {
        events.removeDriver(driver);
        events.removeIf(queue::equals);
        events.detach();
    }
}
