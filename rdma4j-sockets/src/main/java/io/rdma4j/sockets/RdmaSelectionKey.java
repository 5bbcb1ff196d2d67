// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A channel in an {@link RdmaSelector}. Thread safe, but for what the selector alone uses. */
final class RdmaSelectionKey extends AbstractSelectionKey implements ChannelReadiness.Listener {
    private final RdmaSelector selector;
    private final SelectableChannel channel;
    private final ChannelReadiness readiness;
    private final AtomicInteger interest = new AtomicInteger();
    private volatile int ready;
    /** What the selector waits for: the interest when it began to select. */
    private volatile int awaited;
    private final AtomicBoolean isMarked = new AtomicBoolean();
    private final AtomicBoolean isChanged = new AtomicBoolean();

    /** The next in the selector's stack of marked keys. */
    @Nullable
    RdmaSelectionKey nextMarked;
    /** What this selection has found ready. The selector's alone. */
    private int found;
    /** The selector's alone. */
    private boolean isForgotten;
    /** Its key in the selector of the JDK's, if the channel is one of the JDK's. */
    volatile @Nullable SelectionKey inner;

    RdmaSelectionKey(RdmaSelector selector, SelectableChannel channel, ChannelReadiness readiness) {
        this.selector = selector;
        this.channel = channel;
        this.readiness = readiness;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public RdmaSelector selector() {
        return selector;
    }

    ChannelReadiness readiness() {
        return readiness;
    }

    private void requireValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    // ---------------------------------------------------------------- interest

    @Override
    public int interestOps() {
        requireValid();
        return interest.get();
    }

    @Override
    public RdmaSelectionKey interestOps(int operations) {
        requireValid();
        requireFitting(operations);
        onInterest(interest.getAndSet(operations), operations);
        return this;
    }

    @Override
    public int interestOpsOr(int operations) {
        requireValid();
        requireFitting(operations);
        int before = interest.getAndUpdate(now -> now | operations);
        onInterest(before, before | operations);
        return before;
    }

    @Override
    public int interestOpsAnd(int operations) {
        requireValid();
        int before = interest.getAndUpdate(now -> now & operations);
        onInterest(before, before & operations);
        return before;
    }

    private void requireFitting(int operations) {
        if ((operations & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException(
                    "operations " + operations + " are not all of " + channel.validOps());
        }
    }

    private void onInterest(int before, int now) {
        if (before == now) {
            return;
        }
        onChanged();
        if (inner == null && (now & ~before & awaited) != 0) {
            // A selection under way awaits it all the same, and may have looked while there was no interest.
            selector.mark(this);
        }
    }

    /** The selector takes over the interest, and who stands for the channel, when it next selects. */
    void onChanged() {
        // In one step: who finds it changed relies on it that the next selection finds the key.
        synchronized (isChanged) {
            if (isChanged.compareAndSet(false, true)) {
                selector.onChanged(this);
            }
        }
    }

    /** {@return what the selector waits for from now on} */
    int takeOver() {
        isChanged.set(false);
        int now = interest.get();
        awaited = now;
        return now;
    }

    // ---------------------------------------------------------------- readiness

    @Override
    public int readyOps() {
        requireValid();
        return ready;
    }

    @Override
    public void onReady(int operations) {
        if ((operations & awaited) != 0) {
            selector.mark(this);
        }
    }

    @Override
    public void onRedirected() {
        onChanged();
        selector.wakeToChange();
    }

    @Override
    public void onRelease() {
        selector.release(this);
    }

    /** Whatever its interest is: who handles a key takes the interest away meanwhile. */
    @Override
    public boolean isSelected() {
        return isValid();
    }

    /** {@return whether it was not marked before} */
    boolean mark() {
        return isMarked.compareAndSet(false, true);
    }

    void unmark() {
        isMarked.set(false);
    }

    /** It was cancelled, and the selector has let it go. */
    void forget() {
        isForgotten = true;
    }

    boolean isForgotten() {
        return isForgotten;
    }

    /** {@return the awaited operations that are ready and of interest} */
    int look() {
        int wanted = awaited & interest.get();
        return wanted == 0 || inner != null ? 0 : readiness.readyOps(wanted);
    }

    /** Adds the key to those that are ready, once in a selection: it may be marked again while it is looked at. */
    void addTo(List<RdmaSelectionKey> ready, int operations) {
        if (found == 0) {
            ready.add(this);
        }
        found |= operations;
    }

    void forgetFound() {
        found = 0;
    }

    /** Replaces what it says to be ready by what was found. */
    boolean replaceReady() {
        int now = found & interest.get();
        ready = now;
        return now != 0;
    }

    /** {@return whether what was found adds to what it says to be ready} */
    boolean addReady() {
        int more = found & interest.get() & ~ready;
        ready = ready | more;
        return more != 0;
    }

    @Override
    public String toString() {
        return "channel=" + channel + ", selector=" + selector + (isValid()
                ? ", interestOps=" + interest.get() + ", readyOps=" + ready
                : ", invalid");
    }
}
