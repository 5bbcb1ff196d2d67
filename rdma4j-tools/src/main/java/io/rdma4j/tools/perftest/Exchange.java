// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.io.IOException;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The exchange of bytes between the two sides of a test: always the same number from each, the client's first.
 *
 * <p>A waiting thread gives up if the peer is silent for the time of {@code --patience} and no packet of it arrives either.
 */
abstract class Exchange implements AutoCloseable {
    /** What a peer has said before it ended. */
    static final String OWN_OUTPUT = "its own output says why";

    private final boolean isClient;
    private LongSupplier arrived = () -> 0;
    private long arrivedBefore;
    private long silentUntilNs = System.nanoTime();

    Exchange(boolean isClient) {
        this.isClient = isClient;
    }

    /** {@return the peer's bytes, as many as the own ones} */
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

    /** Refuses an endpoint of this side that the peer certainly cannot reach. */
    abstract void requireOwn(Endpoint own) throws IOException;

    /** Refuses an endpoint of the peer that certainly cannot be reached. */
    abstract void requirePeer(Endpoint own, Endpoint peer) throws IOException;

    /** From now on this side waits for the peer without sleeping, where that makes a difference. */
    abstract void stayAwake();

    /** In one piece: the C programs expect to read it at once. */
    abstract void send(byte[] bytes) throws IOException;

    abstract byte[] receive(int length) throws IOException;

    /** From now on a silent peer counts as alive while this number grows. */
    final void watch(LongSupplier packetsArrived) {
        arrived = packetsArrived;
    }

    /** Begins a wait for the peer. */
    final void beginWaiting() {
        arrivedBefore = arrived.getAsLong();
    }

    /** For so long the peer may be silent now, because its JVM compiles. */
    final void allowSilence(Duration time) {
        silentUntilNs = System.nanoTime() + time.toNanos();
    }

    /** The patience is over: gives up unless packets of the peer have arrived since. */
    final void requireLife(long seconds) throws IOException {
        long now = arrived.getAsLong();
        if (now == arrivedBefore && System.nanoTime() - silentUntilNs >= 0) {
            throw silence(seconds);
        }
        arrivedBefore = now;
    }

    /** {@return the exception for a silent peer} */
    static IOException silence(long seconds) {
        return new IOException("nothing came from the peer for " + seconds + " s; both sides need"
                + " the same tool and the same -c, -q, -n, -D, -a, -b and -R");
    }

    /** {@return the exception for a peer that has ended} */
    static PeerGone goneAway() {
        return new PeerGone(OWN_OUTPUT);
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

    /**
     * Ends the sending, and stays until the peer does the same: it may still wait for an acknowledgement.
     *
     * @param isPeerPatient as above
     */
    abstract void leave(boolean isPeerPatient) throws IOException;

    @Override
    public abstract void close() throws IOException;
}
