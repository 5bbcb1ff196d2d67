package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waiting for the completions of a queue.
 *
 * <p>A queue announces one completion each time it is armed, and that wakes one thread. So one thread at a
 * time arms and sleeps; the others wait for their turn, and look at the queue when it comes.
 */
final class CompletionWait {
    private static final String OPERATION = "await completion";
    private static final Map<CompletionQueue, ReentrantLock> TURNS = Collections
            .synchronizedMap(new WeakHashMap<>());

    private CompletionWait() {}

    /** {@return the next completion, waiting as long as it takes} */
    static WorkCompletion await(CompletionQueue queue) throws RdmaException {
        return Objects.requireNonNull(poll(queue, Long.MAX_VALUE));
    }

    /** {@return the next completion, or null if none comes in time} */
    static @Nullable WorkCompletion poll(CompletionQueue queue, Duration timeout)
            throws RdmaException {
        boolean isLong = timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0;
        return poll(queue, isLong ? Long.MAX_VALUE : Math.max(0, timeout.toNanos()));
    }

    private static @Nullable WorkCompletion poll(CompletionQueue queue, long timeoutNs)
            throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        if (queue.poll(completion)) {
            return completion;
        }
        CompletionChannel channel = queue.channel();
        if (channel == null) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the completion queue has no channel to wait on; create it with one or poll it");
        }
        long startNs = System.nanoTime();
        ReentrantLock turn = TURNS.computeIfAbsent(queue, any -> new ReentrantLock());
        try {
            if (!turn.tryLock(timeoutNs, TimeUnit.NANOSECONDS)) {
                return null;
            }
        } catch (InterruptedException e) {
            throw RdmaException.interrupted(OPERATION);
        }
        try {
            while (!queue.poll(completion)) {
                queue.requestNotification(false);
                if (queue.poll(completion)) {
                    break;
                }
                CompletionQueue announced = channel.pollEvent(
                        Duration.ofNanos(timeoutNs - (System.nanoTime() - startNs)));
                if (announced == null) {
                    return null;
                }
                announced.acknowledgeEvents(1);
            }
            return completion;
        } finally {
            turn.unlock();
        }
    }
}
