// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import org.jspecify.annotations.Nullable;

/**
 * What one thread at a time does to a queue. A step is done within the monitor of the queue, which costs least; what takes several
 * calls, as a batch does, is done by a thread that keeps the turn meanwhile. Nobody who has the turn waits for the engine within
 * the monitor.
 */
abstract class Turns {
    private @Nullable Thread keeper;
    private int timesKept;
    private boolean isOver;

    /**
     * Waits until no other thread keeps the turn, or the queue is over. Within the monitor, where the caller then does its step, unless
     * {@link #isKeptByOther}.
     */
    final void awaitTurn() {
        if (keeper != null) {
            awaitEnd();
        }
    }

    private void awaitEnd() {
        boolean isInterrupted = false;
        while (isKeptByOther() && !isOver) {
            try {
                wait();
            } catch (InterruptedException _) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return whether another thread keeps the turn, after a wait because the queue is over} Within the monitor. */
    final boolean isKeptByOther() {
        return keeper != null && !isKeeper();
    }

    /** The queue is over: nobody waits any more, perhaps for a thread that has ended. */
    final synchronized void endWaits() {
        isOver = true;
        notifyAll();
    }

    /**
     * Takes the turn, and keeps it until {@link #giveBack} was called as often.
     *
     * @return false if another thread keeps it, and the queue is over
     */
    final synchronized boolean keep() {
        awaitTurn();
        if (isKeptByOther()) {
            return false;
        }
        keeper = Thread.currentThread();
        timesKept++;
        return true;
    }

    /** Ends {@link #keep}. */
    final synchronized void giveBack() {
        if (!isKeeper()) {
            throw new IllegalMonitorStateException("another thread has the turn, or none");
        }
        timesKept--;
        if (timesKept == 0) {
            keeper = null;
            notifyAll();
        }
    }

    /** {@return whether no thread keeps the turn} Within the monitor. */
    final boolean isFree() {
        return keeper == null;
    }

    /** {@return whether the calling thread keeps the turn} Within the monitor, or by the thread itself. */
    final boolean isKeeper() {
        return Thread.currentThread().equals(keeper);
    }
}
