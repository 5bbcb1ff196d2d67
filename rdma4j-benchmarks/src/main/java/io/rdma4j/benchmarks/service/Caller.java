// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import java.io.IOException;

/** A connection of a client. One thread. */
interface Caller extends AutoCloseable {
    /** Does one operation and waits for its end. */
    void call() throws IOException;

    @Override
    void close() throws IOException;
}
