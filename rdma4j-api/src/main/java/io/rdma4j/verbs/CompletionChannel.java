// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import io.rdma4j.event.EventSource;
import io.rdma4j.event.WaitFailures;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * Delivers the events of completion queues, so that a thread can sleep until a completion arrives.
 *
 * <p>C: {@code struct} {@index ibv_comp_channel}, {@index ibv_get_cq_event}. One channel can serve completion
 * queues of several devices and providers. Thread safe; each event is delivered once and must be acknowledged with
 * {@link CompletionQueue#acknowledgeEvents} before its queue can be closed. Virtual threads may wait
 * here. A platform thread that waits may drive a device meanwhile, which saves waking another
 * thread.
 *
 * <p>A call of {@link CompletionQueue#requestNotification} causes one event, at the next completion; further calls before
 * it cause no other. One thread takes it. Threads that
 * wait for the completions of an id ({@code QueuePairOperations.awaitReceiveCompletion}) neither take nor cause events. So
 * both ways of waiting can be used with one channel, even for one queue. A thread that is woken by an event may then
 * find the queue empty, because a thread of the other kind has taken the completion.
 *
 * @since 0.1.0
 */
public final class CompletionChannel extends EventSource<CompletionQueue, RdmaException>
        implements
            WaitChannel<CompletionQueue> {
    private CompletionChannel(@Nullable WaitSet set) {
        super(new WaitFailures<>("await completion event", RdmaException::ofSystem), true, set);
    }

    /** {@return a new channel} C: {@index ibv_create_comp_channel}. */
    public static CompletionChannel create() {
        return new CompletionChannel(null);
    }

    /**
     * {@return a new channel that a thread can wait for together with others}
     *
     * @param set what a thread waits for
     */
    public static CompletionChannel create(WaitSet set) {
        return new CompletionChannel(set);
    }

    /**
     * Waits for an event. C: {@index ibv_get_cq_event}.
     *
     * @return the completion queue to poll
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    @Override
    public CompletionQueue awaitEvent() throws RdmaException {
        return super.awaitEvent();
    }

    /**
     * {@return the completion queue of the next event, or null if none comes in time} The event must be
     * acknowledged at that queue.
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    @Override
    public @Nullable CompletionQueue pollEvent(Duration timeout) throws RdmaException {
        return super.pollEvent(timeout);
    }

    /**
     * {@inheritDoc} C: {@code ibv_comp_channel.}{@index fd of struct ibv_comp_channel} (ibv_create_comp_channel(3)).
     *
     * <p>After taking events: acknowledge them; ask for the next event at the queue they name; poll the queue until it
     * is empty, and only then select again.
     *
     * @throws RdmaException EBADF when the channel is closed, ENOMEM if the system gives no pipe
     */
    @Override
    public SelectableChannel selectableChannel() throws RdmaException {
        return super.selectableChannel();
    }

    @Override
    public void join(WaitSet set) throws RdmaException {
        joinSet(set);
    }

    /**
     * Closes the channel and wakes its waiters. Idempotent. C: {@index ibv_destroy_comp_channel}.
     *
     * @throws RdmaException EBUSY while completion queues use it
     */
    @Override
    public void close() throws RdmaException {
        int users = closeUnlessUsed();
        if (users > 0) {
            throw new RdmaException(Errno.EBUSY, "close completion channel",
                    users + " completion queue(s) still use it; close them first");
        }
    }

    @Override
    public String toString() {
        return "completion channel";
    }
}
