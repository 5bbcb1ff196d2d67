// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The watchers of a device's lost addresses and of its end. Thread safe; the notifications do not block.
 */
public final class DeviceWatchers {
    private static final System.Logger LOG = System.getLogger(DeviceWatchers.class.getName());

    private final List<CmContext.Watcher> watchers = new CopyOnWriteArrayList<>();

    /** One more. */
    public void add(CmContext.Watcher watcher) {
        watchers.add(watcher);
    }

    /** Removes a watcher: it is notified of nothing more. */
    public void remove(CmContext.Watcher watcher) {
        watchers.remove(watcher);
    }

    /** Removes all watchers: the device is closed. */
    public void clear() {
        watchers.clear();
    }

    /** Called when an address of the device was removed or moved to another interface. */
    public void onAddressChanged(InetAddress address) {
        for (CmContext.Watcher watcher : watchers) {
            watcher.onAddressChanged(address);
        }
    }

    /** Called when the network interface was removed, or the device has failed. */
    public void onDeviceGone() {
        for (CmContext.Watcher watcher : watchers) {
            try {
                watcher.onDeviceGone();
            } catch (RuntimeException | Error failed) {
                // The others wait for it.
                LOG.log(System.Logger.Level.ERROR, "a watcher failed", failed);
            }
        }
    }
}
