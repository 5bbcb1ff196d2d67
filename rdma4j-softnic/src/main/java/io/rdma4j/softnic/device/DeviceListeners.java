package io.rdma4j.softnic.device;

import io.rdma4j.spi.CmContext;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who wants to hear of lost addresses and of the end of a device. Thread safe; telling does not block. */
public final class DeviceListeners {
    private final List<CmContext.Watcher> watchers = new CopyOnWriteArrayList<>();

    /** One more. */
    public void add(CmContext.Watcher watcher) {
        watchers.add(watcher);
    }

    /** It hears nothing more. */
    public void remove(CmContext.Watcher watcher) {
        watchers.remove(watcher);
    }

    /** An address of the device went away or moved to another interface. */
    void onAddressChanged(InetAddress address) {
        for (CmContext.Watcher watcher : watchers) {
            watcher.onAddressChanged(address);
        }
    }

    /** The network interface is gone. */
    void onDeviceGone() {
        watchers.forEach(CmContext.Watcher::onDeviceGone);
    }
}
