// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits as sockets do: an interruption ends that of a virtual thread, and none of a platform thread. */
final class SocketWait {
    /** A wait with an end is one that an interruption ends. */
    private static final long LONG_NS = TimeUnit.DAYS.toNanos(1);

    private SocketWait() {}

    /** Waits once, and may return early. */
    interface Wait {
        void await(long timeoutNs);
    }

    /**
     * Waits until it is done.
     *
     * @param what is waited for, for the exception
     * @throws SocketTimeoutException if time is up
     * @throws InterruptedIOException if the thread is virtual and interrupted
     */
    static void until(BooleanSupplier isDone, Wait wait, TimeLimit limit, String what)
            throws InterruptedIOException {
        boolean isVirtual = Thread.currentThread().isVirtual();
        boolean wasInterrupted = false;
        try {
            while (!isDone.getAsBoolean()) {
                if (limit.isOver()) {
                    throw new SocketTimeoutException(what + " timed out");
                }
                if (!isVirtual) {
                    wasInterrupted |= Thread.interrupted();
                } else if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException();
                }
                wait.await(isVirtual ? Math.min(LONG_NS, limit.leftNs()) : limit.leftNs());
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
