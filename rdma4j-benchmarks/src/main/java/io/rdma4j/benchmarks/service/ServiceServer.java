// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/** A server that serves until its process ends. */
interface ServiceServer {
    /**
     * Serves.
     *
     * @param address where it listens, with port 0 for any
     * @param onListening is told the port
     */
    void run(InetSocketAddress address, IntConsumer onListening) throws IOException;
}
