package io.rdma4j.tools.perftest;

import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * How two sides of a test pass each other bytes: always as many from either, the client's first.
 *
 * <p>A thread that waits gives up when the peer says nothing for as long as patience lasts and no packet of it arrives either.
 */
abstract class Exchange implements AutoCloseable {
    private final boolean isClient;
    private LongSupplier arrived = () -> 0;
    private long arrivedBefore;

    Exchange(boolean isClient) {
        this.isClient = isClient;
    }

    /** {@return the peer's bytes, as many as one's own} */
    final byte[] exchange(byte[] own) throws IOException {
        if (isClient) {
            send(own);
            return receive(own.length);
        }
        byte[] remote = receive(own.length);
        send(own);
        return remote;
    }

    /** {@return the peer's endpoint} */
    abstract Endpoint exchange(Endpoint own) throws IOException;

    /** In one piece: the C programs expect to read it at once. */
    abstract void send(byte[] bytes) throws IOException;

    abstract byte[] receive(int length) throws IOException;

    /** From now on a peer that says nothing is alive while this number grows. */
    final void watch(LongSupplier packetsArrived) {
        arrived = packetsArrived;
    }

    /** One begins to wait for the peer. */
    final void beginWaiting() {
        arrivedBefore = arrived.getAsLong();
    }

    /** The peer has said nothing as long as patience lasts: gives up unless packets of it have arrived since. */
    final void requireLife(long seconds) throws IOException {
        long now = arrived.getAsLong();
        if (now == arrivedBefore) {
            throw silence(seconds);
        }
        arrivedBefore = now;
    }

    /** {@return what to tell of a peer that is silent} */
    static IOException silence(long seconds) {
        return new IOException("nothing came from the peer for " + seconds + " s; both sides need"
                + " the same tool and the same -c, -q, -n, -D, -a, -b and -R");
    }

    /** {@return what to tell of a peer that is gone} */
    static IOException goneAway() {
        return new IOException("the peer hung up; its own output says why");
    }

    /**
     * After the last exchange.
     *
     * @param isPeerPatient whether the peer waits for the end of a client before it ends itself
     */
    abstract void part(boolean isPeerPatient) throws IOException;

    /** {@return whether this side has begun} */
    final boolean isClient() {
        return isClient;
    }

    /** Says nothing more, and stays until the peer does the same: it may still wait for an acknowledgement. */
    abstract void leave();

    @Override
    public abstract void close() throws IOException;
}
