// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SelectorWait;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The JDK's own channels in an {@link RdmaSelector}: a selector of the JDK's with a key for each of them.
 *
 * <p>The selecting thread waits in the inner selector, or leads the engine and waits for the inner selector as well. Whatever else wants to enter that
 * wakes it.
 *
 * <p>The selecting thread calls this, but for {@link #wakeup} and {@link #release}.
 */
final class JdkChannels {
    private static final System.Logger LOG = System.getLogger(JdkChannels.class.getName());

    private final Selector inner;
    /**
     * Held by who is in the inner selector: before its locks, and those of its channels. Fair: who waits there would otherwise come
     * again and again before those that it was to let in.
     */
    private final ReentrantLock gate = new ReentrantLock(true);
    /** How many threads are about to enter. Nobody waits in the inner selector meanwhile. */
    private final AtomicInteger entering = new AtomicInteger();
    /** A look would change what the inner selector has. */
    private boolean isStale;
    private volatile boolean isClosed;
    /** The selecting thread leads the engine, and waits for the inner selector as well. */
    private volatile boolean isAwaited;
    /** Of keys that are not cancelled: those of the inner selector go later. */
    private int channels;

    /** @param inner of the JDK's, which it closes */
    JdkChannels(Selector inner) {
        this.inner = inner;
    }

    /** {@return how many channels there are} */
    int size() {
        return channels;
    }

    // ---------------------------------------------------------------- keys

    /** Waits for other operations of a channel, or for a channel that is new. */
    void await(RdmaSelectionKey key, SelectableChannel channel, int operations) throws IOException {
        isStale = true;
        SelectionKey known = key.inner;
        try {
            if (known != null && known.isValid()) {
                known.interestOps(operations);
            } else {
                enter();
                try {
                    // A key that was cancelled is in the way until the next look.
                    inner.selectNow(_ -> {});
                    // One that was cancelled meanwhile may have been let go already.
                    if (key.isValid()) {
                        key.inner = channel.register(inner, operations, key);
                        channels += known == null ? 1 : 0;
                    }
                } finally {
                    gate.unlock();
                }
            }
        } catch (ClosedChannelException | CancelledKeyException
                | IllegalBlockingModeException e) {
            // Then its outer key is cancelled as well, or about to be.
            isStale = true;
        }
    }

    /** The key is in the selector no more. */
    void forget(RdmaSelectionKey key) {
        SelectionKey known = key.inner;
        if (known != null) {
            known.cancel();
            isStale = true;
            channels--;
        }
    }

    /** Lets a channel go whose key is cancelled. By any thread, which may have locks of a channel that the inner one stands for. */
    void release(RdmaSelectionKey key) {
        if (isClosed) {
            return;
        }
        enter();
        try {
            SelectionKey known = key.inner;
            if (known != null) {
                known.cancel();
                inner.selectNow(_ -> {});
            }
        } catch (IOException | ClosedSelectorException e) {
            LOG.log(System.Logger.Level.DEBUG, "the selector was closed meanwhile", e);
        } finally {
            gate.unlock();
        }
    }

    void close() throws IOException {
        isClosed = true;
        inner.close();
    }

    // ---------------------------------------------------------------- looking and waiting

    /** Makes the thread return that is in the inner selector, now or next. */
    void wakeup() {
        inner.wakeup();
    }

    /** Takes the gate. Who waits inside leaves, and does not wait again before this thread was in. */
    private void enter() {
        if (gate.hasQueuedThreads() || !gate.tryLock()) {
            entering.incrementAndGet();
            // Who has not seen the count is waiting, or about to, and is woken.
            inner.wakeup();
            gate.lock();
            entering.decrementAndGet();
        }
        if (isAwaited) {
            // The thread that leads has the monitor of the inner selector. It sees that the gate is locked, or is woken.
            inner.wakeup();
        }
    }

    /** {@return whether a look is needed to know that nothing is ready} */
    boolean mustLook() {
        return isStale || channels > 0;
    }

    /** Adds the keys that are ready now, with their operations. */
    void look(List<RdmaSelectionKey> ready) throws IOException {
        enter();
        try {
            isStale = false;
            inner.selectNow(found -> add(found, ready));
        } finally {
            gate.unlock();
        }
    }

    /**
     * Waits in the inner selector itself, and adds what is ready then.
     *
     * @param isDone becomes true before {@link #wakeup} is called
     * @param leftNs {@link Long#MAX_VALUE} for no limit
     */
    void select(List<RdmaSelectionKey> ready, BooleanSupplier isDone, long leftNs)
            throws IOException {
        enter();
        try {
            long leftMs = leftNs == Long.MAX_VALUE
                    ? 0
                    : Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs + 999_999));
            // Behind the gate: the look of who was in before has taken the wake-ups that came until then.
            if (entering.get() > 0 || isDone.getAsBoolean()) {
                inner.selectNow(found -> add(found, ready));
            } else {
                inner.select(found -> add(found, ready), leftMs);
            }
        } finally {
            gate.unlock();
        }
    }

    private static void add(SelectionKey found, List<RdmaSelectionKey> ready) {
        if (found.attachment() instanceof RdmaSelectionKey key && key.isValid()) {
            key.addTo(ready, found.readyOps());
        }
    }

    /**
     * Leads the engine and waits for the inner selector as well, until it is done, time is up, or something has come of either. It adds no keys.
     *
     * @param isDone as in {@link SelectorWait#await}
     * @return false if the thread cannot lead now
     */
    boolean tryLead(SelectorWait wait, BooleanSupplier isDone, long endNs) {
        // Without the gate: what the engine runs may need locks of channels, whose threads may want to enter.
        isAwaited = true;
        try {
            return gate.isLocked() || wait.tryLead(isDone, endNs, inner);
        } finally {
            isAwaited = false;
        }
    }
}
