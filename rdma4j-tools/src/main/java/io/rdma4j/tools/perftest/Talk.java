package io.rdma4j.tools.perftest;

import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * How two sides of a test pass each other bytes: always as many from either, the client's first.
 *
 * <p>Whoever waits gives up when the peer says nothing for as long as patience lasts and no packet of it arrives either.
 */
interface Talk extends AutoCloseable {
    /** {@return the peer's bytes, as many as one's own} */
    byte[] exchange(byte[] own) throws IOException;

    /** {@return the peer's endpoint} */
    Endpoint exchange(Endpoint own) throws IOException;

    /** From now on a peer that says nothing is alive while this number grows. */
    void watch(LongSupplier packetsArrived);

    /** After the last exchange. */
    void part() throws IOException;

    /** Says nothing more, and stays until the peer does the same: it may still wait for an acknowledgement. */
    void leave();

    @Override
    void close() throws IOException;

    /** {@return what to tell of a peer that is silent} */
    static IOException silence(long seconds) {
        return new IOException("nothing came from the peer for " + seconds + " s; both sides need"
                + " the same tool and the same -c, -q, -n, -D, -a, -b and -R");
    }
}
