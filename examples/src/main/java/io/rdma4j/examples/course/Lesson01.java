// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/** Devices, their ports, and the addresses of a port. */
public final class Lesson01 {
    private Lesson01() {}

    /** Takes the name of a network interface; {@code lo} without one. */
    public static void main(String... words) throws RdmaException {
        String network = words.length > 0 ? words[0] : "lo";
        List<RdmaDevice> all = RdmaDevices.list(); // 1
        List<RdmaDevice> devices = all.stream()
                .filter(each -> each.name().endsWith("_" + network)).toList();
        if (devices.isEmpty()) {
            throw new RdmaException(Errno.ENODEV, "find devices",
                    "the interface '" + network + "' has none; there are " + all);
        }
        for (RdmaDevice device : devices) {
            System.out.println(device.name() + ": " + device.kind() + ", " + device.nodeType()
                    + ", transport " + device.transport());
            try (DeviceContext context = device.open()) { // 2
                describe(context);
            } // 6
        }
    }

    private static void describe(DeviceContext context) throws RdmaException {
        DeviceAttributes attributes = context.queryDevice(); // 3
        System.out.println("  ports: " + attributes.physicalPortCount()
                + ", queue pairs: up to " + attributes.limit(DeviceLimit.MAX_QP)
                + ", requests in a queue: up to " + attributes.limit(DeviceLimit.MAX_QP_WR)
                + ", atomics: " + attributes.atomicCapability());

        PortAttributes port = context.queryPort(1); // 4
        System.out.println("  port 1: " + port.state() + ", link layer " + port.linkLayer()
                + ", path MTU " + port.activeMtu().bytes() + ", LID " + port.lid());

        for (GidEntry entry : context.queryGidTable()) { // 5
            System.out.println("  GID " + entry.index() + ": " + entry.gid() + ", "
                    + entry.type() + ", for " + entry.gid().addressText());
        }
    }
}
