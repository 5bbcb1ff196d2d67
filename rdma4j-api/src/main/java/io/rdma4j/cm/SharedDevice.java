// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * A device that the ids of the process share: opened for the first lease and closed after the last.
 *
 * <p>Each device has its own lock for that, so a device that opens or closes slowly does not delay ids of other
 * devices. The lock of the table is never held during a call of a device.
 */
final class SharedDevice implements CmContext.Watcher {
    private static final System.Logger LOG = System.getLogger(SharedDevice.class.getName());
    /** By the name of the device; without those that are gone or closed. */
    private static final Map<String, SharedDevice> OPEN = new HashMap<>();

    private final CmDevice device;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<DeviceLease> leases = ConcurrentHashMap.newKeySet();
    private volatile boolean isGone;
    /** Null until the device is open; changes under the lock. */
    private volatile @Nullable CmContext context;
    private @Nullable ProtectionDomain defaultDomain;
    private boolean isClosed;

    private SharedDevice(CmDevice device) {
        this.device = device;
    }

    /**
     * {@return a share of a device, opened if it is not open}
     *
     * @param address an address that the device must use, or null for those that it uses by default
     */
    static DeviceLease lease(CmDevice device, @Nullable InetAddress address) throws RdmaException {
        while (true) {
            SharedDevice shared;
            synchronized (OPEN) {
                shared = OPEN.computeIfAbsent(device.name(), name -> new SharedDevice(device));
            }
            DeviceLease lease = shared.tryLease(address);
            if (lease != null) {
                return lease;
            }
        }
    }

    /** {@return a lease, or null if the device was closed or removed meanwhile, and so left the table} */
    private @Nullable DeviceLease tryLease(@Nullable InetAddress address) throws RdmaException {
        lock.lock();
        try {
            if (isClosed || isGone) {
                return null;
            }
            CmContext present = context;
            if (present == null) {
                open(address);
            } else if (address != null) {
                present.claim(address);
            } else {
                present.claimUsual();
            }
            return share();
        } finally {
            lock.unlock();
        }
    }

    private void open(@Nullable InetAddress address) throws RdmaException {
        try {
            CmContext opened = device.open(address);
            context = opened;
            opened.watch(this);
        } finally {
            if (context == null) {
                isClosed = true;
                forget();
            }
        }
    }

    /** Takes it out of the table: the next lease opens the device anew. */
    private void forget() {
        synchronized (OPEN) {
            OPEN.remove(device.name(), this);
        }
    }

    CmDevice device() {
        return device;
    }

    boolean isGone() {
        return isGone;
    }

    CmContext context() {
        CmContext present = context;
        if (present == null) {
            throw new IllegalStateException("the device has not been opened");
        }
        return present;
    }

    /** {@return another lease} No lock is taken: the caller has one already, and may be driving the device. */
    DeviceLease share() {
        DeviceLease lease = new DeviceLease(this);
        leases.add(lease);
        return lease;
    }

    /** {@return another lease beside one, null if that was given back and so no longer keeps the device open} */
    @Nullable
    DeviceLease shareWith(DeviceLease held) {
        lock.lock();
        try {
            return leases.contains(held) ? share() : null;
        } finally {
            lock.unlock();
        }
    }

    /** @throws IllegalStateException if the lease was given back: a domain made now would keep the device open */
    ProtectionDomain defaultDomain(DeviceLease held) throws RdmaException {
        lock.lock();
        try {
            if (!leases.contains(held)) {
                throw IdStateMachine.closed();
            }
            ProtectionDomain domain = defaultDomain;
            if (domain == null) {
                domain = context().allocateProtectionDomain();
                defaultDomain = domain;
            }
            return domain;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a lease back; after the last the device is closed, unless the application still uses it. */
    void release(DeviceLease lease) {
        lock.lock();
        try {
            leases.remove(lease);
            closeIfIdle();
        } finally {
            lock.unlock();
        }
    }

    /** Objects of the context may outlive the ids of an application: it stays open as long as they do. */
    private void closeIfIdle() {
        if (!leases.isEmpty() || isClosed) {
            return;
        }
        // First: the last object may be closed by another thread while this one is refused.
        context().whenReleased(this::onReleased);
        boolean isBusy = false;
        try {
            closeDefaultDomain();
            context().close();
        } catch (RdmaException e) {
            isBusy = e.errno() == Errno.EBUSY;
            if (!isBusy) {
                LOG.log(System.Logger.Level.WARNING, "{0} was not closed properly: {1}",
                        device.name(), e.getMessage());
            }
        } finally {
            if (!isBusy) {
                // Also after a failure: of a context that is half closed nobody has any use.
                isClosed = true;
                forget();
            }
        }
    }

    private void closeDefaultDomain() throws RdmaException {
        ProtectionDomain domain = defaultDomain;
        if (domain != null) {
            domain.close();
            defaultDomain = null;
        }
    }

    private void onReleased() {
        lock.lock();
        try {
            closeIfIdle();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onAddressChanged(InetAddress address) {
        report(listener -> listener.onAddressChanged(address));
    }

    @Override
    public void onDeviceGone() {
        isGone = true;
        forget();
        report(DeviceLease.Listener::onDeviceGone);
    }

    private void report(Consumer<DeviceLease.Listener> event) {
        for (DeviceLease lease : leases) {
            DeviceLease.Listener listener = lease.listener();
            if (listener != null) {
                try {
                    event.accept(listener);
                } catch (RuntimeException | Error failed) {
                    // The other ids wait for it.
                    LOG.log(System.Logger.Level.ERROR,
                            "an id was not notified of " + device.name(), failed);
                }
            }
        }
    }
}
