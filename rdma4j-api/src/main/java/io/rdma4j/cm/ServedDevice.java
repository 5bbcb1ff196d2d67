// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.PortAuthority;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;

/** A device that an id listens on: by a listener of its own, or by that of another device of the same port authority. */
final class ServedDevice implements DeviceLease.Listener {
    private final DeviceLease lease;
    private final Runnable onGone;
    private volatile @Nullable CmListener listener;

    /** @param onGone called when the device was removed; must not block */
    ServedDevice(DeviceLease lease, Runnable onGone) {
        this.lease = lease;
        this.onGone = onGone;
    }

    DeviceLease lease() {
        return lease;
    }

    String name() {
        return lease.device().name();
    }

    void listener(CmListener begun) {
        listener = begun;
    }

    /** {@return its own listener} */
    @Nullable
    CmListener listener() {
        return listener;
    }

    /** {@return whether its listener serves all devices of an authority} */
    boolean isListenerOf(PortAuthority authority) {
        return listener != null && authority.hasOneWildcardListener()
                && lease.device().portAuthority().equals(authority);
    }

    /** {@return whether requests may come} A system that listens for all its devices does so also for those that come later. */
    boolean mayBringRequests() {
        return !lease.isGone() || lease.device().portAuthority().hasOneWildcardListener();
    }

    /** Of the wildcard address; an id at one address has its own. */
    @Override
    public void onAddressChanged(InetAddress address) {}

    @Override
    public void onDeviceGone() {
        onGone.run();
    }
}
