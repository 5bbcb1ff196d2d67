// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.jspecify.annotations.Nullable;

import java.nio.channels.Selector;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Where the thread of a selector waits. It leads the engine meanwhile, if it can, and sleeps otherwise. One thread at a time
 * waits; any thread wakes it.
 */
public final class SelectorWait {
    private final SocketEngine engine;
    private final BooleanSupplier hasSomething;
    private volatile boolean isLeading;
    private volatile @Nullable Thread sleeper;

    /** @param hasSomething whether anything has come for the channels that are waited for */
    public SelectorWait(SocketEngine engine, BooleanSupplier hasSomething) {
        this.engine = engine;
        this.hasSomething = hasSomething;
    }

    /**
     * Waits until it is done, time is up, or the thread is interrupted, whose status stays set. It may also return before, if another thread takes over.
     *
     * @param isDone becomes true before {@link #wake} is called
     * @param endNs of {@link System#nanoTime}; {@link Long#MAX_VALUE} for no limit
     */
    public void await(BooleanSupplier isDone, long endNs) {
        if (!tryLead(isDone, endNs, null)) {
            sleep(isDone, endNs);
        }
    }

    /**
     * Leads until it is done, time is up, the thread is interrupted, or another takes over.
     *
     * @param isDone as in {@link #await}
     * @param selector of the JDK's: it also ends when that has something, and now and then for nothing; null if there is none
     * @return false if the thread cannot lead now
     */
    public boolean tryLead(BooleanSupplier isDone, long endNs, @Nullable Selector selector) {
        if (!engine.tryLead()) {
            return false;
        }
        isLeading = true;
        try {
            if (selector == null) {
                engine.lead(isDone, endNs);
            } else {
                engine.leadOnce(isDone, endNs, selector);
            }
            noteServed();
        } finally {
            isLeading = false;
            engine.stopLeading();
        }
        return true;
    }

    /** The calling thread is about to wait elsewhere, because it cannot lead, until {@link #onAwake}. */
    public void onSleep() {
        engine.onSleep();
    }

    /** The calling thread has waited elsewhere. */
    public void onAwake() {
        engine.onAwake();
        noteServed();
    }

    private void noteServed() {
        if (hasSomething.getAsBoolean()) {
            engine.onServed();
        }
    }

    private void sleep(BooleanSupplier isDone, long endNs) {
        sleeper = Thread.currentThread();
        engine.onSleep();
        try {
            while (!isDone.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
                if (endNs == Long.MAX_VALUE) {
                    LockSupport.park(this);
                    continue;
                }
                long leftNs = endNs - System.nanoTime();
                if (leftNs <= 0) {
                    return;
                }
                LockSupport.parkNanos(this, leftNs);
            }
        } finally {
            sleeper = null;
            onAwake();
        }
    }

    /** Makes the thread that waits look whether it is done. */
    public void wake() {
        Thread sleeping = sleeper;
        if (sleeping != null) {
            LockSupport.unpark(sleeping);
        } else if (isLeading) {
            engine.wakeLeader();
        }
    }

    /** {@return whether another thread drives the devices} */
    public boolean isLedByAnother() {
        return engine.isLedByAnother();
    }

    /** Handles the events that are there, if nobody else does, without a wait. It runs no device. */
    public void poll() {
        engine.moved();
        engine.lookAtOnce();
    }
}
