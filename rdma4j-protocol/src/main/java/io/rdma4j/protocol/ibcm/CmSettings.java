// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.verbs.Mtu;

/**
 * The time limits and resources of the connection manager. Times are exponents: 4.096 us times 2 to
 * that power.
 *
 * @param nodeGuid the device's node
 * @param responseTimeout the wait for an answer before a message is sent again
 * @param maxRetries how often a request or a reply is sent again
 * @param disconnectRetries how often a disconnect request is sent again
 * @param serviceTimeout the patience asked of a peer whose request the application has not answered
 * @param timeWait how long late packets of a connection may still arrive
 * @param ackTimeout the acknowledgement time-out of its queue pairs
 * @param minRnrTimer the wait asked of peers that find no receive posted, a code; of those that repeat only a few times, the
 *        first wait for a message
 * @param maxReadAtomic READs and atomics a queue pair can hold, each way
 */
public record CmSettings(long nodeGuid, int responseTimeout, int maxRetries, int disconnectRetries,
        int serviceTimeout, int timeWait, int ackTimeout, int minRnrTimer, int maxReadAtomic) {

    /** Ten hours, in seconds: what an exponent of five bits can say. */
    public static final int LONGEST_SILENCE = 36_000;
    /** Of queue pairs whose program chooses none. */
    private static final int USUAL_RETRIES = 7;

    /**
     * {@return settings for a local network: a peer that does not answer within 17 s is unreachable}
     */
    public static CmSettings defaults(long nodeGuid) {
        return new CmSettings(nodeGuid, 18, 15, 4, 24, 18, 16, 12, 128);
    }

    /** {@return these with another patience} */
    public CmSettings withPatience(int newResponseTimeout, int newMaxRetries) {
        return new CmSettings(nodeGuid, newResponseTimeout, newMaxRetries, disconnectRetries,
                serviceTimeout, timeWait, ackTimeout, minRnrTimer, maxReadAtomic);
    }

    /**
     * {@return these for peers that may be silent for so long: whom a debugger or a long pause has stopped} A requester with
     * 7 retries then waits for at least this time, and no longer than twice; so do a request and a reply.
     *
     * @param seconds from 0, which changes nothing, to {@link #LONGEST_SILENCE}
     */
    public CmSettings forSilence(int seconds) {
        return new CmSettings(nodeGuid, Math.max(responseTimeout, exponent(seconds, maxRetries)),
                maxRetries, disconnectRetries, serviceTimeout, timeWait,
                Math.max(ackTimeout, exponent(seconds, USUAL_RETRIES)), minRnrTimer,
                maxReadAtomic);
    }

    /** {@return the least exponent of a time-out with which the first message and its repetitions last so long} */
    private static int exponent(int seconds, int retries) {
        int exponent = 0;
        while ((retries + 1) * nanos(exponent) < seconds * 1_000_000_000L) {
            exponent++;
        }
        return exponent;
    }

    static long nanos(int exponent) {
        return 4096L << exponent;
    }

    static Mtu mtu(int code) {
        Mtu mtu = Mtu.ofCode(code);
        if (mtu == null) {
            throw new IllegalArgumentException("no MTU has the code " + code);
        }
        return mtu;
    }
}
