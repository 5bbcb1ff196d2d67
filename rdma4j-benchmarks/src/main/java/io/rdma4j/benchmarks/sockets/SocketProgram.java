// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

/** A server and a client, in processes of their own, with the JVM's channels whatever they are. */
interface SocketProgram {
    /** {@return the port of a server that now runs in threads of its own, until the process ends} */
    int serve() throws Exception;

    /** {@return what the client has measured, in the unit of the {@link SocketWorkload}} */
    double drive(int port, Stretch stretch) throws Exception;

    /** How long to warm up, and how long to measure then. */
    record Stretch(long warmUpNs, long measureNs) {
        /** {@return how much is done in a second, by one thread that does it again and again} */
        double rate(Action action) throws Exception {
            double _ = oneRate(action, warmUpNs);
            return oneRate(action, measureNs);
        }

        private static double oneRate(Action action, long lengthNs) throws Exception {
            long startNs = System.nanoTime();
            long done = 0;
            long nowNs = startNs;
            while (nowNs - startNs < lengthNs) {
                done += action.run();
                nowNs = System.nanoTime();
            }
            return done * 1e9 / (nowNs - startNs);
        }
    }

    /** Something that is done again and again. */
    @FunctionalInterface
    interface Action {
        /** {@return how much was done} */
        long run() throws Exception;
    }
}
