// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.util.concurrent.TimeUnit;

/** One end of a workload, in a process of its own. */
final class SocketEnd {
    private SocketEnd() {}

    /** @param arguments the workload; for a client the port, and for how many seconds to warm up and to measure */
    public static void main(String[] arguments) throws Exception {
        SocketProgram program = SocketWorkload.named(arguments[0]).program();
        if (arguments.length == 1) {
            System.out.println("port " + program.serve());
            // Ends with whoever has started it.
            while (System.in.read() >= 0) {
                // Nothing is said.
            }
        } else {
            SocketProgram.Stretch stretch = new SocketProgram.Stretch(seconds(arguments[2]),
                    seconds(arguments[3]));
            System.out.println(
                    "result " + program.drive(Integer.parseInt(arguments[1]), stretch));
        }
        System.exit(0);
    }

    private static long seconds(String text) {
        return (long) (Double.parseDouble(text) * TimeUnit.SECONDS.toNanos(1));
    }
}
