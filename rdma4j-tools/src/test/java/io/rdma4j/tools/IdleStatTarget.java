// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;

/** A process that has a device open and does nothing with it, until its standard input ends. */
final class IdleStatTarget {
    private IdleStatTarget() {}

    public static void main(String[] arguments) throws Exception {
        try (DeviceContext context = RdmaDevices.find("iwarp_lo").open()) {
            System.out.println("open: " + context.device().name());
            System.in.readAllBytes();
        }
    }
}
