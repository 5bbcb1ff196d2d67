// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;

/** A process that closes its device or opens it anew at each byte of input. */
final class ReopeningStatTarget {
    private ReopeningStatTarget() {}

    public static void main(String[] arguments) throws Exception {
        do {
            try (DeviceContext context = RdmaDevices.find("iwarp_lo").open()) {
                System.out.println("open: " + context.device().name());
                if (System.in.read() < 0) {
                    return;
                }
            }
            System.out.println("closed");
        } while (System.in.read() >= 0);
    }
}
