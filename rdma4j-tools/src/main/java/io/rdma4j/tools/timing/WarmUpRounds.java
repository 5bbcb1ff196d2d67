package io.rdma4j.tools.timing;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;

/**
 * The phase before a measurement: rounds of the same messages until the JVM has compiled their code, or the time for it
 * is over. As the C programs of perftest do with {@code --perform_warm_up}.
 */
public final class WarmUpRounds {
    /** After that time no further round begins, whatever the JVM still compiles. */
    public static final Duration LONGEST = Duration.ofSeconds(4);

    /** When nothing has come for so long, a message was lost over a transport that may lose some. */
    public static final Duration SILENCE = Duration.ofMillis(50);

    /** Messages of a round. */
    public static final int MOST_MESSAGES = 4096;

    /** One round. */
    @FunctionalInterface
    public interface Round {
        /**
         * Plays it. All its messages have completed afterwards.
         *
         * @param number how many rounds there were before
         */
        void play(int number) throws IOException;
    }

    /** Two sides that go on together. */
    @FunctionalInterface
    public interface Agreement {
        /** No peer takes part. */
        Agreement ALONE = isWanted -> isWanted;

        /** {@return whether this side or the peer wants something} */
        boolean isWantedByEither(boolean isWanted) throws IOException;
    }

    /**
     * Rounds over sides of their own, which may lose messages.
     *
     * @param <S> the side
     */
    public interface OwnSides<S extends Closeable> {
        /** {@return a side, which is closed after its rounds} */
        S create() throws IOException;

        /** Connects it to that of the peer. */
        void connect(S side) throws IOException;

        /**
         * {@return the number of rounds before another side is connected} The JVM also compiles what happens once in a
         * side's life, if it has happened several times.
         */
        default int roundsOfASide() {
            return 16;
        }

        /** {@return whether a round was played to its end} Otherwise nothing came for the time of {@link #SILENCE}. */
        boolean play(S side, int number) throws IOException;
    }

    private static final int FIRST_MESSAGES = 512;
    private static final int ROUNDS_TO_DOUBLE = 8;
    private static final long MOST_BYTES = 1 << 24;

    private WarmUpRounds() {}

    /**
     * {@return the number of messages of a round} The first rounds have few, because the JVM interprets them; later ones
     * have more, so that messages take most of the time.
     *
     * @param number how many rounds there were before
     * @param size bytes of a message
     */
    public static int messages(int number, long size) {
        long most = Math.min((long) FIRST_MESSAGES << Math.min(number / ROUNDS_TO_DOUBLE, 31),
                MOST_MESSAGES);
        return (int) Math.clamp(MOST_BYTES / Math.max(1, size), 1, most);
    }

    /** Plays one round at least. */
    public static void play(Round round, Agreement agreement) throws IOException {
        JitActivity jit = new JitActivity();
        boolean goesOn = true;
        for (int number = 0; goesOn; number++) {
            jit.beginRound();
            round.play(number);
            goesOn = agreement.isWantedByEither(jit.endRound());
        }
    }

    /**
     * Plays one round at least. After some rounds it connects another side, and after a round with a loss, because
     * messages may still be on their way.
     */
    public static <S extends Closeable> void play(OwnSides<S> rounds, Agreement agreement)
            throws IOException {
        JitActivity jit = new JitActivity();
        boolean goesOn = true;
        for (int number = 0; goesOn;) {
            try (S side = rounds.create()) {
                rounds.connect(side);
                int end = number + rounds.roundsOfASide();
                while (goesOn && number < end) {
                    jit.beginRound();
                    boolean isComplete = rounds.play(side, number++);
                    if (agreement.isWantedByEither(!isComplete)) {
                        end = number;
                    }
                    goesOn = agreement.isWantedByEither(jit.endRound());
                }
            }
        }
    }
}
