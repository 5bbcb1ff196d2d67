// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import io.rdma4j.event.EventSet;
import io.rdma4j.event.WaitFailures;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.nio.channels.Selector;
import java.time.Duration;

/**
 * A set of channels that one thread can wait for at once: completion channels
 * ({@link CompletionChannel#create(WaitSet)}), event channels of the connection manager
 * ({@code CmEventChannel.create(WaitSet)}) and channels of asynchronous events ({@link AsyncEventChannel#join}), of any
 * devices and providers.
 *
 * <pre>
 * WaitSet set = WaitSet.create();
 * CompletionChannel completions = CompletionChannel.create(set);
 * CmEventChannel connections = CmEventChannel.create(set);
 * AsyncEventChannel device = context.asyncEventChannel();
 * device.join(set);
 * while (true) {
 *     var channel = set.await();
 *     if (channel == completions) {
 *         CompletionQueue queue = completions.pollEvent(Duration.ZERO);
 *         ...
 *     } else if (channel == connections) {
 *         CmEvent event = connections.pollEvent(Duration.ZERO);
 *         ...
 *     } else if (channel == device) {
 *         AsyncEvent event = device.pollEvent(Duration.ZERO);
 *         ...
 *     }
 * }
 * </pre>
 *
 * <p>A completion or event channel that was created without a set may {@link WaitChannel#join} one later. A C program calls {@code poll} with the file descriptors of its channels instead. A thread can still wait for a
 * single channel. Thread safe. Virtual threads may wait here; a platform thread that waits may drive a device meanwhile.
 * Waits end with EINTR when interrupted and with EBADF when the set is closed. A channel stays in its set until one
 * of them is closed; closing the set leaves its channels open.
 *
 * @since 0.1.0
 */
public final class WaitSet extends EventSet<RdmaException> {
    private WaitSet() {
        super(new WaitFailures<>("await channel", RdmaException::ofSystem));
    }

    /** {@return a new set without channels} */
    public static WaitSet create() {
        return new WaitSet();
    }

    /**
     * Waits until a channel of the set has an event.
     *
     * @return the channel; another thread may be faster to take its event, so take it with
     *         {@link WaitChannel#pollEvent} and a time-out of zero
     * @throws RdmaException EINTR when interrupted, EBADF when the set is closed
     */
    public WaitChannel<?> await() throws RdmaException {
        return (WaitChannel<?>) awaitSource();
    }

    /**
     * {@return a channel of the set that has an event, or null if none has one in time} Channels that have events are
     * returned in turn, so that one that always has some keeps no other from being served.
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws RdmaException EINTR when interrupted, EBADF when the set is closed
     */
    public @Nullable WaitChannel<?> poll(Duration timeout) throws RdmaException {
        return (WaitChannel<?>) pollSource(timeout);
    }

    /**
     * As {@link #poll(Duration)}, and ends as soon as a selector has something for a selection as well: one thread for RDMA and for
     * sockets. A platform thread waits for the packets and for the sockets at the same place then, so each message costs one wake-up;
     * with {@link #selectableChannel} in the selector it costs two. Needs the JDK's selector and network back-end of Linux, and a device in software;
     * elsewhere the thread waits in the selector, and is woken there.
     *
     * <pre>
     * while (true) {
     *     selector.selectNow();
     *     for (SelectionKey key : selector.selectedKeys()) {
     *         ...
     *     }
     *     selector.selectedKeys().clear();
     *     var channel = set.poll(FOREVER, selector);
     *     while (channel != null) {
     *         ...
     *         channel = set.poll(Duration.ZERO);
     *     }
     * }
     * </pre>
     *
     * <p>As shown, select before each wait: registrations and changes of interest count from that selection on. It also takes a {@link
     * Selector#wakeup} that came before it; so look between it and the wait for what the wake-up was about.
     *
     * @param timeout how long to wait; zero or less to look for channels of the set only, which nothing interrupts
     * @param selector whose monitor the thread has meanwhile, as in a selection
     * @return a channel of the set that has an event; null if none has one: then the selector has something, or time is up, or
     *         sometimes neither
     * @throws RdmaException EINTR when interrupted, EBADF when the set is closed, EIO if the selection fails
     * @throws java.nio.channels.ClosedSelectorException if the selector is closed
     */
    public @Nullable WaitChannel<?> poll(Duration timeout, Selector selector)
            throws RdmaException {
        return (WaitChannel<?>) pollSource(timeout, selector);
    }

    /**
     * {@return a channel that a selector can wait for: it is readable while a channel of the set has an event} As
     * {@link WaitChannel#selectableChannel}, for all of them by one key.
     *
     * @throws RdmaException EBADF when the set is closed, ENOMEM if the system gives no pipe
     */
    @Override
    public SelectableChannel selectableChannel() throws RdmaException {
        return super.selectableChannel();
    }

    /**
     * Says that the calling thread is about to wait for something else, such as another thread. A device in software expects a thread
     * that has polled it to come back within a millisecond, and leaves itself to that thread so long; after this call it goes on at once, by
     * the thread that waits in this set, or its own. Nothing but time is lost without it. C programs have no use for it: there the kernel
     * or the NIC does what a polling thread does here. Does nothing for native devices, and if the set has no device.
     */
    @Override
    public void waitElsewhere() {
        super.waitElsewhere();
    }

    /** Closes the set and wakes the threads that wait for it; its channels stay open. Idempotent. */
    @Override
    public void close() {
        super.close();
    }

    @Override
    public String toString() {
        return "wait set";
    }
}
