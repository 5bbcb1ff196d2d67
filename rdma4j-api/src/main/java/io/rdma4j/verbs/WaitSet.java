package io.rdma4j.verbs;

import io.rdma4j.event.EventSet;

/**
 * A set of channels that one thread can wait for at once: completion channels
 * ({@link CompletionChannel#create(WaitSet)}), event channels of the connection manager
 * ({@code EventChannel.create(WaitSet)}) and channels of asynchronous events ({@link AsyncEventChannel#join}), of any
 * devices and providers.
 *
 * <pre>
 * WaitSet set = WaitSet.create();
 * CompletionChannel completions = CompletionChannel.create(set);
 * EventChannel connections = EventChannel.create(set);
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
 * <p>A C program calls {@code poll} with the file descriptors of its channels instead. A thread can still wait for a
 * single channel. Thread safe. Virtual threads may wait here; a platform thread that waits may drive a device meanwhile.
 * Waits end with EINTR when interrupted and with EBADF when the set is closed. A channel stays in its set until one
 * of them is closed; closing the set leaves its channels open.
 */
public final class WaitSet extends EventSet<RdmaException> {
    private WaitSet() {
        super(RdmaException.whileWaiting("await channel"));
    }

    /** {@return a new set without channels} */
    public static WaitSet create() {
        return new WaitSet();
    }
}
