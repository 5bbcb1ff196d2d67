// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.streams;

import java.io.IOException;

/** A TCP connection whose both ends are here; no call of it waits. */
interface StreamPair extends AutoCloseable {
    /** The most bytes that a call takes. */
    int MOST = 128 << 10;

    /** Writes into one end. {@return how many bytes were taken} */
    int write(int length) throws IOException;

    /** Reads at the other end. {@return how many bytes there were, 0 if there were none} */
    int read(int most) throws IOException;

    /** Asks all connections which of them have something to read. {@return how many} */
    int look() throws IOException;

    @Override
    void close() throws IOException;
}
