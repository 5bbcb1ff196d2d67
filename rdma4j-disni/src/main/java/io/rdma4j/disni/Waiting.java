// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaInterruptedException;
import io.rdma4j.verbs.WaitChannel;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/** Waits for events as {@code poll} of C does under DiSNI: what interrupts a thread does not end its wait. */
final class Waiting<T> {
    private final WaitChannel<T> channel;
    /** The last time-out, since a program waits with the same again and again. */
    private volatile Duration timeout = Duration.ZERO;

    Waiting(WaitChannel<T> channel) {
        this.channel = channel;
    }

    /**
     * {@return the next event, or null if none comes in time}
     *
     * @param milliseconds less than 0 for any time
     * @throws RdmaException EBADF when the channel is closed
     */
    @Nullable
    T poll(int milliseconds) throws RdmaException {
        if (milliseconds < 0) {
            return await();
        }
        Duration wanted = timeout;
        if (wanted.toMillis() != milliseconds) {
            wanted = Duration.ofMillis(milliseconds);
            timeout = wanted;
        }
        try {
            return channel.pollEvent(wanted);
        } catch (RdmaInterruptedException e) {
            return pollUninterrupted(milliseconds);
        }
    }

    private @Nullable T pollUninterrupted(int milliseconds) throws RdmaException {
        long endNs = System.nanoTime() + Duration.ofMillis(milliseconds).toNanos();
        Thread.interrupted();
        try {
            while (true) {
                try {
                    return channel.pollEvent(Duration.ofNanos(endNs - System.nanoTime()));
                } catch (RdmaInterruptedException e) {
                    Thread.interrupted();
                }
            }
        } finally {
            Thread.currentThread().interrupt();
        }
    }

    private T await() throws RdmaException {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return channel.awaitEvent();
                } catch (RdmaInterruptedException e) {
                    isInterrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
