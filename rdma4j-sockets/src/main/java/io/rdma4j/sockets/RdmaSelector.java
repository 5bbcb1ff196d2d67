// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.sockets.engine.SelectorWait;
import io.rdma4j.sockets.engine.SocketEngine;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A selector for channels over RDMA, and for the JDK's own beside them.
 *
 * <p>As {@link Selector} says, and level-triggered. A channel marks its key when it becomes ready, so a selection looks at the keys
 * that were ready or became so, and at no other. The thread that waits leads the engine, and with it drives software devices.
 *
 * <p>Locks: those of {@link Selector}, which are monitors of the selector and of its set of selected keys; then those of channels.
 */
final class RdmaSelector extends AbstractSelector {
    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> visibleKeys = Collections.unmodifiableSet(keys);
    private final SelectedKeys selectedKeys = new SelectedKeys();
    private final MarkedKeys marked = new MarkedKeys();
    private final SelectorWait wait = new SelectorWait(SocketEngine.ofProcess(),
            marked::hasNew);
    private final Queue<RdmaSelectionKey> changed = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isWoken = new AtomicBoolean();
    /** Changes count at once. */
    private volatile boolean mustChange;
    private final BooleanSupplier isDone = this::isDone;
    private final Opening jdkSelectors;

    /** Of the selecting thread. */
    private final List<RdmaSelectionKey> ready = new ArrayList<>();
    private boolean isSelecting;
    private volatile @Nullable JdkChannels jdkChannels;
    private volatile boolean isInJdk;

    /** Opens selectors. */
    interface Opening {
        Selector open() throws IOException;
    }

    RdmaSelector(SelectorProvider provider) {
        this(provider, () -> JdkProvider.provider().openSelector());
    }

    /** @param jdkSelectors those of the JDK's, of which it needs one as soon as it has one of the JDK's channels */
    RdmaSelector(SelectorProvider provider, Opening jdkSelectors) {
        super(provider);
        this.jdkSelectors = jdkSelectors;
    }

    private void requireOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    public Set<SelectionKey> keys() {
        requireOpen();
        return visibleKeys;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        requireOpen();
        return selectedKeys;
    }

    // ---------------------------------------------------------------- keys

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int operations,
            @Nullable Object attachment) {
        ChannelReadiness known = ChannelReadiness.of(channel);
        ChannelReadiness readiness = known == null ? new OfJdk(channel) : known;
        RdmaSelectionKey key = new RdmaSelectionKey(this, channel, readiness);
        if (attachment != null) {
            key.attach(attachment);
        }
        requireOpen();
        keys.add(key);
        readiness.add(key);
        try {
            key.interestOps(operations);
            key.onChanged();
        } catch (ClosedSelectorException e) {
            keys.remove(key);
            readiness.remove(key);
            key.cancel();
            throw e;
        }
        return key;
    }

    /** A channel that is one of the JDK's. */
    private static final class OfJdk extends ChannelReadiness {
        private final SelectableChannel channel;

        OfJdk(SelectableChannel channel) {
            this.channel = channel;
        }

        @Override
        int readyOps(int operations) {
            return 0;
        }

        @Override
        SelectableChannel delegate() {
            return channel;
        }
    }

    /** The next selection takes the change over. */
    void onChanged(RdmaSelectionKey key) {
        requireOpen();
        changed.add(key);
    }

    /** The selection under way takes changes over. */
    void wakeToChange() {
        mustChange = true;
        wake();
    }

    /** The channel of the key may be ready. */
    void mark(RdmaSelectionKey key) {
        if (marked.mark(key)) {
            wake();
        }
    }

    void release(RdmaSelectionKey key) {
        JdkChannels known = jdkChannels;
        if (known != null && !key.isValid()) {
            known.release(key);
        }
    }

    private void takeChanges() throws IOException {
        if (mustChange) {
            // Only where it is: who selects again and again need not tell the other processors so each time.
            mustChange = false;
        }
        for (RdmaSelectionKey key = changed.poll(); key != null; key = changed.poll()) {
            int operations = key.takeOver();
            if (!key.isValid()) {
                continue;
            }
            SelectableChannel delegate = key.readiness().delegate();
            if (delegate == null) {
                marked.mark(key);
            } else {
                takeChange(key, delegate, operations);
            }
        }
    }

    private void takeChange(RdmaSelectionKey key, SelectableChannel delegate, int operations)
            throws IOException {
        boolean isTaken = false;
        try {
            openJdkChannels().await(key, delegate, operations);
            isTaken = true;
        } finally {
            if (!isTaken) {
                // Perhaps there are no descriptors now: the next selection tries it again.
                key.onChanged();
            }
        }
    }

    private JdkChannels openJdkChannels() throws IOException {
        JdkChannels known = jdkChannels;
        if (known == null) {
            known = new JdkChannels(jdkSelectors.open());
            jdkChannels = known;
        }
        return known;
    }

    private void deregisterCancelled() {
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            if (cancelled.isEmpty()) {
                return;
            }
            cancelled.forEach(key -> forget((RdmaSelectionKey) key));
            cancelled.clear();
        }
    }

    private void forget(RdmaSelectionKey key) {
        key.forget();
        keys.remove(key);
        selectedKeys.remove(key);
        JdkChannels known = jdkChannels;
        if (known != null) {
            known.forget(key);
        }
        // Last: until then who has to let the channel go finds the key here, and waits for that.
        key.readiness().remove(key);
        deregister((AbstractSelectionKey) key);
    }

    // ---------------------------------------------------------------- selecting

    @Override
    public int selectNow() throws IOException {
        return select(null, false, 0);
    }

    @Override
    public int select() throws IOException {
        return select(null, true, 0);
    }

    @Override
    public int select(long timeoutMs) throws IOException {
        requireTimeout(timeoutMs);
        return select(null, true, timeoutMs);
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        Objects.requireNonNull(action);
        return select(action, false, 0);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        Objects.requireNonNull(action);
        return select(action, true, 0);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeoutMs) throws IOException {
        Objects.requireNonNull(action);
        requireTimeout(timeoutMs);
        return select(action, true, timeoutMs);
    }

    private static void requireTimeout(long timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
    }

    private int select(@Nullable Consumer<SelectionKey> action, boolean isBlocking, long timeoutMs)
            throws IOException {
        synchronized (this) {
            requireOpen();
            if (isSelecting) {
                throw new IllegalStateException("select in progress");
            }
            isSelecting = true;
            try {
                synchronized (selectedKeys) {
                    return selectAlone(action, isBlocking, timeoutMs);
                }
            } finally {
                isSelecting = false;
                forgetFound();
            }
        }
    }

    private void forgetFound() {
        if (!ready.isEmpty()) {
            ready.forEach(RdmaSelectionKey::forgetFound);
            ready.clear();
        }
    }

    private int selectAlone(@Nullable Consumer<SelectionKey> action, boolean isBlocking,
            long timeoutMs) throws IOException {
        takeChanges();
        deregisterCancelled();
        marked.begin();
        if (isBlocking) {
            awaitReady(timeoutMs == 0 ? Long.MAX_VALUE : end(timeoutMs));
        } else {
            lookAtOnce();
        }
        if (isWoken.get()) {
            isWoken.set(false);
        }
        deregisterCancelled();
        return ready.isEmpty() ? 0 : report(action);
    }

    private static long end(long timeoutMs) {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        return endNs == Long.MAX_VALUE ? endNs - 1 : endNs;
    }

    private int report(@Nullable Consumer<SelectionKey> action) {
        int count = 0;
        for (RdmaSelectionKey key : ready) {
            if (key.isValid() && report(key, action)) {
                count++;
            }
        }
        return count;
    }

    private boolean report(RdmaSelectionKey key, @Nullable Consumer<SelectionKey> action) {
        if (action != null) {
            if (!key.replaceReady()) {
                return false;
            }
            action.accept(key);
            requireOpen();
            return true;
        }
        if (selectedKeys.contains(key)) {
            return key.addReady();
        }
        return key.replaceReady() && selectedKeys.select(key);
    }

    // ---------------------------------------------------------------- waiting

    /**
     * {@return whether any key is ready}
     *
     * @param hasWaited since then nobody has been kept from becoming ready
     */
    private boolean look(boolean hasWaited) throws IOException {
        if (marked.look(ready) && !hasWaited) {
            // Keys that are always ready must not keep others from becoming so.
            if (!wait.isLedByAnother()) {
                marked.poll();
            }
            wait.poll();
            marked.lookAtNew(ready);
        }
        JdkChannels known = jdkChannels;
        if (known != null && known.mustLook()) {
            known.look(ready);
        }
        return !ready.isEmpty();
    }

    private void poll() {
        marked.poll();
        wait.poll();
    }

    /** Finds what is ready now. */
    private void lookAtOnce() throws IOException {
        poll();
        marked.look(ready);
        JdkChannels known = jdkChannels;
        if (known != null) {
            known.look(ready);
        }
    }

    /** Waits until a key is ready, or something else ends the selection. */
    private void awaitReady(long endNs) throws IOException {
        try {
            begin();
            boolean isOfJdk = isOfJdkAlone();
            boolean hasWaited = false;
            // What is closed meanwhile ends the selection, which forgets its key.
            while (!(isOfJdk ? selectInJdk(left(endNs)) : look(hasWaited)) && !isEnded()
                    && !marked.hasFoundCancelled() && left(endNs) > 0) {
                if (!isOfJdk) {
                    await(endNs);
                    hasWaited = true;
                }
                if (mustChange) {
                    takeChanges();
                }
                isOfJdk = isOfJdkAlone();
            }
        } finally {
            end();
        }
    }

    private static long left(long endNs) {
        return endNs == Long.MAX_VALUE ? endNs : endNs - System.nanoTime();
    }

    private boolean isEnded() {
        return isWoken.get() || !isOpen() || Thread.currentThread().isInterrupted();
    }

    private boolean isDone() {
        return marked.hasNew() || isWoken.get() || !isOpen() || mustChange;
    }

    /** Waits once for both kinds of channels. What the JDK's have is found by the next look. */
    private void await(long endNs) throws IOException {
        JdkChannels known = jdkChannels;
        if (known == null || known.size() == 0) {
            wait.await(isDone, endNs);
        } else if (!known.tryLead(wait, isDone, endNs)) {
            // Who leads marks keys, which wakes this thread in the inner selector.
            wait.onSleep();
            try {
                boolean _ = selectInJdk(left(endNs));
            } finally {
                wait.onAwake();
            }
        }
    }

    private boolean isOfJdkAlone() {
        JdkChannels known = jdkChannels;
        return known != null && known.size() > 0 && known.size() == keys.size();
    }

    /** {@return whether any key is ready, after the wait for it in the inner selector} */
    private boolean selectInJdk(long leftNs) throws IOException {
        JdkChannels all = openJdkChannels();
        // A channel over RDMA has marked its key when it was closed. Nobody else takes it, and there is no wait while there are new ones.
        marked.lookAtNew(ready);
        isInJdk = true;
        try {
            if (!ready.isEmpty() || marked.hasFoundCancelled() || leftNs <= 0) {
                all.look(ready);
            } else {
                all.select(ready, isDone, leftNs);
            }
        } finally {
            isInJdk = false;
        }
        return !ready.isEmpty();
    }

    private void wake() {
        JdkChannels known = jdkChannels;
        if (isInJdk && known != null) {
            known.wakeup();
        }
        wait.wake();
    }

    @Override
    public Selector wakeup() {
        if (isWoken.compareAndSet(false, true)) {
            wake();
        }
        return this;
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        wake();
        synchronized (this) {
            synchronized (selectedKeys) {
                keys.forEach(key -> forget((RdmaSelectionKey) key));
                changed.clear();
                JdkChannels known = jdkChannels;
                if (known != null) {
                    known.close();
                }
            }
        }
    }

    @Override
    public String toString() {
        return getClass().getSimpleName()
                + (isOpen() ? "[" + keys.size() + " keys]" : "[closed]");
    }
}
