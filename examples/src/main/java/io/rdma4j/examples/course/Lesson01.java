// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

/** Devices, their ports, and the addresses of a port. */
public final class Lesson01 {
    private Lesson01() {}

    /** Takes the name of a network interface; {@code lo} without one. */
    public static void main(String... words) throws RdmaException {
        String suffix = "_" + (words.length > 0 ? words[0] : "lo");
        for (RdmaDevice device : RdmaDevices.list()) { // 1
            if (device.name().endsWith(suffix)) {
                System.out.println(device.name() + ": " + device.kind() + ", " + device.nodeType()
                        + ", transport " + device.transport());
                try (DeviceContext context = device.open()) { // 2
                    describe(context);
                } // 6
            }
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
