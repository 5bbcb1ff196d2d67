package io.rdma4j.verbs;

import io.rdma4j.event.EventSet;

/**
 * Channels that one thread waits for at once: completion channels ({@link CompletionChannel#create(WaitSet)}),
 * event channels of the connection manager ({@code EventChannel.create(WaitSet)}) and those of asynchronous events
 * ({@link AsyncEventChannel#join}), whichever devices and providers publish there.
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
 * <p>What {@code poll} is to the file descriptors of a C program's channels. Each channel can still be waited for by
 * itself. Thread safe; waiting suits virtual threads, and a platform thread that waits may drive a device meanwhile.
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
