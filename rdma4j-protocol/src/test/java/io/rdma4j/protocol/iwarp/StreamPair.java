// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import java.util.Random;

/** Two ends of a stream that are connected, in virtual time. */
final class StreamPair {
    static final long HOLD_NS = 100_000_000;
    private static final long STEP_NS = 1_000_000;
    private static final int MOST_STEPS = 1_000_000;

    final StreamEnd initiator;
    final StreamEnd responder;
    long nowNs;

    /** How two ends are connected. */
    static final class Settings {
        long seed;
        int room = 1 << 16;
        int longestUnit = 4148;
        boolean hasCrc = true;
        int reads = 4;
        ReadyToReceive first = ReadyToReceive.WRITE;
        boolean hasSharedReceives;
    }

    private final Settings settings;

    StreamPair() {
        this(new Settings());
    }

    StreamPair(Settings settings) {
        Random random = new Random(settings.seed);
        ByteStream there = new ByteStream(settings.room, random);
        ByteStream back = new ByteStream(settings.room, random);
        this.settings = settings;
        initiator = new StreamEnd(1, back, there, settings.hasSharedReceives);
        responder = new StreamEnd(2, there, back, settings.hasSharedReceives);
        connect();
    }

    private void connect() {
        initiator.connect(parameters(settings, true), settings.longestUnit, HOLD_NS);
        responder.connect(parameters(settings, false), settings.longestUnit, HOLD_NS);
    }

    /** Gives both ends another stream, whatever has become of the one before. */
    void connectAgain() {
        Random random = new Random(settings.seed);
        ByteStream there = new ByteStream(settings.room, random);
        ByteStream back = new ByteStream(settings.room, random);
        initiator.begin(back, there);
        responder.begin(there, back);
        connect();
    }

    private static StreamParameters parameters(Settings settings, boolean isInitiator) {
        return new StreamParameters(isInitiator, settings.hasCrc, settings.reads, settings.reads,
                settings.first);
    }

    /** Lets the ends work until nothing is left to do now. */
    void work() {
        for (int i = 0; i < MOST_STEPS; i++) {
            boolean hasWorked = initiator.work(nowNs);
            if (!responder.work(nowNs) && !hasWorked) {
                return;
            }
        }
        throw new AssertionError("the ends never rest");
    }

    /** Lets the ends work until nothing is left to do, also later. */
    void settle() {
        work();
        for (long until = nowNs + 2 * HOLD_NS; nowNs < until;) {
            nowNs += STEP_NS;
            work();
        }
    }
}
