// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;

import java.util.stream.Stream;

/** Runs a program, and prints how many bytes the device has carried and how many TCP connections the process has had. */
public final class Observed {
    private static final String DEVICE = "roce_lo";

    private Observed() {}

    /** @param arguments the name of a class, and its arguments */
    public static void main(String[] arguments) throws Exception {
        TcpSockets sockets = new TcpSockets(ProcessHandle.current());
        // A device counts as long as it is open.
        try (DeviceContext context = RdmaDevices.find(DEVICE).open()) {
            Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null,
                    (Object) Stream.of(arguments).skip(1).toArray(String[]::new));
            System.out.println("RDMA bytes " + context.counters().get("sent_bytes"));
            System.out.println("RDMA received bytes " + context.counters().get("rcvd_bytes"));
        }
        System.out.println("TCP connections " + sockets.end().size());
        System.exit(0);
    }
}
