// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** An id's share of an open device. */
final class DeviceLease {
    private final SharedDevice shared;
    private final AtomicBoolean isReleased = new AtomicBoolean();
    private volatile @Nullable Listener listener;

    DeviceLease(SharedDevice shared) {
        this.shared = shared;
    }

    /** Is notified of what happens to the device. Must not block. */
    interface Listener {
        /** As {@link CmContext.Watcher#onAddressChanged}. */
        void onAddressChanged(InetAddress address);

        /** As {@link CmContext.Watcher#onDeviceGone}; may be called more than once. */
        void onDeviceGone();
    }

    CmDevice device() {
        return shared.device();
    }

    CmContext context() {
        return shared.context();
    }

    /** {@return whether the device was removed; a new one of the same name may exist} */
    boolean isGone() {
        return shared.isGone();
    }

    @Nullable
    Listener listener() {
        return listener;
    }

    /** Registers a listener for what happens to the device; tells it at once if the device is gone already. */
    void listener(Listener newListener) {
        listener = newListener;
        if (isGone()) {
            newListener.onDeviceGone();
        }
    }

    /**
     * {@return another share of the same device} Called by the thread that drives the device, so it takes
     * no lock: the thread that has the lock may be waiting for the calling one.
     */
    DeviceLease share() {
        return shared.share();
    }

    /** {@return as {@link #share}, null if this share was given back} It waits while the device is opened or closed. */
    @Nullable
    DeviceLease shareUnlessReleased() {
        return shared.shareWith(this);
    }

    /**
     * {@return the default protection domain of the ids of this device}
     *
     * @throws IllegalStateException if this share was given back: its id is closed
     */
    ProtectionDomain defaultDomain() throws RdmaException {
        return shared.defaultDomain(this);
    }

    /** Gives the share back; the last closes the device, unless the application still uses it. Idempotent. */
    void release() {
        if (isReleased.compareAndSet(false, true)) {
            shared.release(this);
        }
    }
}
