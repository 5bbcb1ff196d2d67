// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;

import java.util.stream.Stream;

/** Runs a program, and prints how many bytes the device has carried when it ends, as it may by itself. */
public final class Observed {
    private Observed() {}

    /** @param arguments the name of a class, and its arguments */
    public static void main(String[] arguments) throws Exception {
        // A device counts as long as it is open.
        DeviceContext context = RdmaDevices.find(System.getProperty("rdma4j.device")).open();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            System.out.println("RDMA sent " + context.counters().get("sent_bytes"));
            System.out.println("RDMA received " + context.counters().get("rcvd_bytes"));
        }));
        Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null,
                (Object) Stream.of(arguments).skip(1).toArray(String[]::new));
        System.exit(0);
    }
}
