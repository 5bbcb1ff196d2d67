// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.timing;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The phase before a measurement: rounds of the same messages until the JVM has compiled their code, or the time for it
 * is over. As the C programs of perftest do with {@code --perform_warm_up}. After each round the sides agree whether there is
 * another, and of how many messages: so many that it takes about 50 ms. For one thread.
 */
public final class WarmUpRounds {
    /** After that time no further round begins, whatever the JVM still compiles. */
    public static final Duration LONGEST = Duration.ofSeconds(4);

    /** The most messages of a round, of all queue pairs together. */
    private static final int MOST_MESSAGES = 4096;

    private static final int FIRST_MESSAGES = 8;
    private static final int MOST_GROWTH = 4;
    private static final long ROUND_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long SILENCE_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int SILENT_ROUND_TRIPS = 8;
    /** The slowest link on which a long message does not count as lost: 16 MB/s. */
    private static final long NS_PER_BYTE = 60;

    private static final int WANTED = 1;
    private static final int COMPLETE = 2;
    private static final int FLAG_BITS = 2;

    /** A round between sides that lose nothing. */
    @FunctionalInterface
    public interface Round {
        /**
         * Plays it. All its messages have completed afterwards.
         *
         * @param number how many rounds there were before
         * @param messages how many messages it has for each queue pair
         * @throws IOException if it failed
         */
        void play(int number, int messages) throws IOException;
    }

    /**
     * Rounds over sides that are created for them. They may lose messages.
     *
     * @param <S> a side
     */
    public interface Sides<S extends Closeable> {
        /**
         * {@return a side; it is closed after its rounds}
         *
         * @param silence when nothing has come for so long, a message was lost
         * @throws IOException if there is no such side
         */
        S create(Duration silence) throws IOException;

        /**
         * Connects a side to that of the peer.
         *
         * @throws IOException if it failed
         */
        void connect(S side) throws IOException;

        /**
         * {@return the number of rounds before another side is created} The JVM also compiles what happens once in a
         * side's life, if it has happened several times.
         */
        default int roundsOfASide() {
            return 16;
        }

        /**
         * {@return whether a round was played to its end} Otherwise a message was lost.
         *
         * @param number how many rounds there were before
         * @param messages how many messages it has for each queue pair
         * @throws IOException if it failed
         */
        boolean play(S side, int number, int messages) throws IOException;
    }

    /** The conversation of two sides that warm up together. */
    @FunctionalInterface
    public interface Agreement {
        /** No peer takes part. */
        Agreement ALONE = own -> own;

        /**
         * {@return the peer's number} It may take the time of {@link #LONGEST} to answer, because it compiles.
         *
         * @throws IOException if the peer is gone
         */
        long exchange(long own) throws IOException;
    }

    @FunctionalInterface
    private interface Playing {
        boolean play(int messages) throws IOException;
    }

    private final Agreement agreement;
    /** Messages of the next round, for each kind of rounds. */
    private final int[] messages;
    private final int most;
    private final int step;
    private final LongSupplier clock;
    private final JitActivity jit;
    private int number;
    private boolean goesOn = true;
    private long roundTripNs = Long.MAX_VALUE;

    /**
     * @param agreement how the sides talk
     * @param kinds how many kinds of rounds there are; they are played in turn
     * @param queuePairs how many queue pairs have messages
     * @param step messages of a queue pair come in multiples of this; the same on both sides
     */
    public WarmUpRounds(Agreement agreement, int kinds, int queuePairs, int step) {
        this(agreement, kinds, queuePairs, step, System::nanoTime, JitActivity.ofThisJvm());
    }

    /** @param clock the time in ns */
    WarmUpRounds(Agreement agreement, int kinds, int queuePairs, int step, LongSupplier clock,
            JitActivity jit) {
        this.agreement = agreement;
        this.clock = clock;
        this.jit = jit;
        this.step = step;
        most = Math.max(1, MOST_MESSAGES / queuePairs / step) * step;
        messages = new int[kinds];
        Arrays.fill(messages, stepped(FIRST_MESSAGES));
    }

    /** {@return the most messages of a queue pair in a round} */
    public int most() {
        return most;
    }

    /**
     * Plays one round at least.
     *
     * @throws IOException if a round failed, or the peer is gone
     */
    public void play(Round round) throws IOException {
        while (goesOn) {
            int before = number;
            playOne(count -> {
                round.play(before, count);
                return true;
            });
        }
    }

    /**
     * Plays one round at least. After some rounds there is another side, and after a loss, because messages may still be
     * on their way.
     *
     * @param <S> a side
     * @param longest bytes of the longest message
     * @throws IOException if a round failed, or the peer is gone
     */
    public <S extends Closeable> void play(Sides<S> sides, long longest) throws IOException {
        exchange(0);
        while (goesOn) {
            try (S side = sides.create(silence(longest))) {
                sides.connect(side);
                int end = number + sides.roundsOfASide();
                while (goesOn && number < end) {
                    int before = number;
                    if (!playOne(count -> sides.play(side, before, count))) {
                        end = number;
                    }
                }
            }
        }
    }

    private Duration silence(long longest) {
        return Duration.ofNanos(Math.max(SILENCE_NS, SILENT_ROUND_TRIPS * roundTripNs)
                + longest * NS_PER_BYTE);
    }

    /** {@return whether it was played to its end on both sides} */
    private boolean playOne(Playing playing) throws IOException {
        int kind = number++ % messages.length;
        int count = messages[kind];
        long startNs = clock.getAsLong();
        boolean isComplete = playing.play(count);
        long tookNs = clock.getAsLong() - startNs;
        boolean isWanted = jit.isMoreNeeded(isComplete ? tookNs : 0);
        int next = isComplete ? grown(count, tookNs) : Math.max(1, count / 2);
        long peers = exchange((long) next << FLAG_BITS | (isComplete ? COMPLETE : 0)
                | (isWanted ? WANTED : 0));
        goesOn = isWanted || (peers & WANTED) != 0;
        messages[kind] = stepped(Math.clamp(peers >> FLAG_BITS, 1, next));
        return isComplete && (peers & COMPLETE) != 0;
    }

    private long exchange(long own) throws IOException {
        long startNs = clock.getAsLong();
        long peers = agreement.exchange(own);
        // The fastest: others include the time that the peer needed for something else.
        roundTripNs = Math.min(roundTripNs, clock.getAsLong() - startNs);
        return peers;
    }

    private static int grown(int count, long tookNs) {
        double growth = Math.min(MOST_GROWTH, (double) ROUND_NS / Math.max(1, tookNs));
        return Math.clamp((long) (count * growth), 1, MOST_MESSAGES);
    }

    private int stepped(int count) {
        return Math.min(most, (count + step - 1) / step * step);
    }
}
