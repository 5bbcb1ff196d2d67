// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The devices that ids have had. DiSNI tells them apart by a file descriptor, and keeps a protection domain for each as long as the
 * process lives. Ids of one device share a context. A domain keeps its context open: so if a device is open by another one, it was removed meanwhile and
 * is there again, or nothing used it. Either way it has another number, and DiSNI makes another domain.
 */
final class Devices {
    private final Handles handles;
    private final Map<DeviceContext, Device> known = new HashMap<>();
    private int given;

    private record Device(DeviceContext context, int number, long handle) {}

    Devices(Handles handles) {
        this.handles = handles;
    }

    synchronized long handleOf(DeviceContext context) throws RdmaException {
        Device present = known.get(context);
        if (present != null) {
            return present.handle;
        }
        forgetClosed();
        Device device = new Device(context, given, handles.add(context));
        given++;
        known.put(context, device);
        return device.handle;
    }

    private void forgetClosed() throws RdmaException {
        for (Device each : List.copyOf(known.values())) {
            if (isClosed(each.context)) {
                known.remove(each.context);
                handles.remove(each.handle, DeviceContext.class, VerbsCalls.CONTEXT);
            }
        }
    }

    private static boolean isClosed(DeviceContext context) {
        try {
            context.queryDevice();
            return false;
        } catch (RdmaClosedException e) {
            return true;
        } catch (RdmaException e) {
            // The device has gone; its objects are still there.
            return false;
        }
    }

    /** {@return what DiSNI takes for a file descriptor} */
    synchronized int number(DeviceContext context) {
        Device device = known.get(context);
        return device == null ? Refusals.FAILED : device.number;
    }
}
