// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.DeviceContext;

import java.util.HashMap;
import java.util.Map;

/**
 * The devices that ids have had. DiSNI tells them apart by a file descriptor, and keeps a protection domain for each as long as the
 * process lives: so a device has one number, whatever context it is open by.
 */
final class Devices {
    private final Handles handles;
    private final Map<String, Device> byName = new HashMap<>();

    record Device(DeviceContext context, int number, long handle) {}

    Devices(Handles handles) {
        this.handles = handles;
    }

    synchronized long handleOf(DeviceContext context) {
        String name = context.device().name();
        Device known = byName.get(name);
        if (known != null && known.context.equals(context)) {
            return known.handle;
        }
        // One that was closed meanwhile, since nothing used it, is open by another context.
        int number = known == null ? byName.size() : known.number;
        long handle = handles.add(context);
        byName.put(name, new Device(context, number, handle));
        return handle;
    }

    /** {@return what DiSNI takes for a file descriptor} */
    synchronized int number(DeviceContext context) {
        Device known = byName.get(context.device().name());
        return known == null ? Refusals.FAILED : known.number;
    }
}
