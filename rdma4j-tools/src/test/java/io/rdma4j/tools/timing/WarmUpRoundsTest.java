// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.timing;

import org.junit.jupiter.api.Test;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** When rounds end, how many messages they have, and when another side is created. In a time of the test's own. */
class WarmUpRoundsTest {
    private static final int WANTED = 1;
    private static final int COMPLETE = 2;

    /** The time of one side, which passes only where the test says so. */
    private static final class Time {
        private long ns;

        long ns() {
            return ns;
        }

        void pass(Duration duration) {
            ns += duration.toNanos();
        }

        void passMs(long ms) {
            pass(Duration.ofMillis(ms));
        }
    }

    private final Time time = new Time();
    private long compiledMs;

    private WarmUpRounds rounds(WarmUpRounds.Agreement agreement) {
        return rounds(agreement, 1, 1, 1);
    }

    private WarmUpRounds rounds(WarmUpRounds.Agreement agreement, int kinds, int queuePairs,
            int step) {
        return new WarmUpRounds(agreement, kinds, queuePairs, step, time::ns,
                new JitActivity(time::ns, () -> compiledMs));
    }

    /** A peer that wants so many rounds, loses nothing and is as fast as this side. */
    private static WarmUpRounds.Agreement peer(int rounds, int exchangesBefore) {
        return new WarmUpRounds.Agreement() {
            private int exchanges = -exchangesBefore;

            @Override
            public long exchange(long own) {
                exchanges++;
                long isWanted = exchanges < rounds ? WANTED : 0;
                return own >> 2 << 2 | COMPLETE | isWanted;
            }
        };
    }

    /** Writes down what is played. */
    private static final class Log implements WarmUpRounds.Sides<Closeable> {
        private final Time time;
        private final Duration message;
        final List<String> lines = new ArrayList<>();
        final List<Integer> messages = new ArrayList<>();
        final IntPredicate isLost;
        Duration silence = Duration.ZERO;
        int sides;

        /**
         * @param message how long one takes
         * @param isLost which rounds lose a message
         */
        Log(Time time, Duration message, IntPredicate isLost) {
            this.time = time;
            this.message = message;
            this.isLost = isLost;
        }

        @Override
        public Closeable create(Duration silent) {
            silence = silent;
            int side = ++sides;
            return () -> lines.add("close " + side);
        }

        @Override
        public void connect(Closeable side) {
            lines.add("connect " + sides);
        }

        @Override
        public boolean play(Closeable side, int number, int count) {
            lines.add("play " + number);
            messages.add(count);
            time.pass(message.multipliedBy(count));
            return !isLost.test(number);
        }
    }

    /** Messages take 1 ms each. */
    private Log log(IntPredicate isLost) {
        return new Log(time, Duration.ofMillis(1), isLost);
    }

    private Log log() {
        return log(_ -> false);
    }

    @Test
    void sideIsReplacedAfterSomeRoundsAndAfterALoss() throws IOException {
        Log log = log(number -> number == 3);
        rounds(peer(24, 1)).play(log, 0);
        assertThat(log.lines).startsWith("connect 1", "play 0", "play 1", "play 2", "play 3",
                "close 1", "connect 2", "play 4");
        assertThat(log.lines.indexOf("close 2") - log.lines.indexOf("connect 2") - 1)
                .isEqualTo(log.roundsOfASide());
        assertThat(log.lines).endsWith("close " + log.sides);
        assertThat(log.messages.get(4)).as("fewer after a loss").isLessThan(log.messages.get(3));
    }

    /** Messages that take a millisecond: some dozens fill a round. */
    @Test
    void roundsGrowUntilTheyTakeTheirTime() throws IOException {
        Log log = log();
        rounds(peer(6, 1)).play(log, 0);
        assertThat(log.messages).containsExactly(8, 32, 50, 50, 50, 50);
    }

    @Test
    void roundsHaveNoMoreThanTheirShareAndWholeLists() throws IOException {
        List<Integer> counts = new ArrayList<>();
        WarmUpRounds rounds = rounds(peer(20, 0), 2, 100, 7);
        assertThat(rounds.most()).isEqualTo(35);
        rounds.play((_, messages) -> {
            counts.add(messages);
            time.passMs(1);
        });
        assertThat(counts.subList(0, 6)).containsExactly(14, 14, 35, 35, 35, 35);
        assertThat(counts.subList(6, 20)).containsOnly(35);
    }

    /** A slow peer, or one with a distant link, leads. */
    @Test
    void sidesPlayTheSmallerNumberOfBoth() throws Exception {
        Exchanger<Long> exchanger = new Exchanger<>();
        WarmUpRounds.Agreement agreement = own -> {
            try {
                return exchanger.exchange(own, 60, TimeUnit.SECONDS);
            } catch (InterruptedException | TimeoutException e) {
                throw new IOException(e);
            }
        };
        Log slow = log();
        Time fastTime = new Time();
        Log fast = new Log(fastTime, Duration.ofNanos(100_000), _ -> false);
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
            try {
                new WarmUpRounds(agreement, 1, 1, 1, fastTime::ns,
                        new JitActivity(fastTime::ns, () -> 0)).play(fast, 0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        rounds(agreement).play(slow, 0);
        other.get(60, TimeUnit.SECONDS);
        assertThat(fast.messages).isEqualTo(slow.messages);
    }

    @Test
    void distantPeersAndLongMessagesHaveMoreTime() throws IOException {
        Log near = log();
        rounds(peer(1, 1)).play(near, 0);
        assertThat(near.silence).isEqualTo(Duration.ofMillis(50));
        Log distant = log();
        WarmUpRounds.Agreement answers = peer(1, 1);
        rounds(own -> {
            time.passMs(20);
            return answers.exchange(own);
        }).play(distant, 1 << 23);
        assertThat(distant.silence)
                .isEqualTo(Duration.ofMillis(8 * 20).plusNanos(60L << 23));
    }

    /** Waiting for a message that does not come is not the time of messages, after which all is compiled. */
    @Test
    void lossesDoNotCountAsMessagesWithoutCompilation() throws IOException {
        Log log = log(number -> {
            time.passMs(50);
            return true;
        });
        int rounds = 200 / 50 + 2;
        WarmUpRounds.Agreement alone = own -> {
            if (log.messages.size() == rounds) {
                assertThat(own & WANTED).isEqualTo(WANTED);
                throw new IOException("enough");
            }
            return own;
        };
        assertThatThrownBy(() -> rounds(alone).play(log, 0))
                .hasMessage("enough");
    }

    @Test
    void failureClosesTheSide() {
        Log log = log(number -> {
            throw new IllegalStateException("failed");
        });
        assertThatThrownBy(() -> rounds(peer(9, 1)).play(log, 0))
                .hasMessage("failed");
        assertThat(log.lines).containsExactly("connect 1", "play 0", "close 1");
    }

    /** {@return how many rounds a side alone plays, each of which takes so long, and during some of which it compiles} */
    private int roundsAlone(long ms, IntPredicate compiles) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        rounds(WarmUpRounds.Agreement.ALONE).play((number, messages) -> {
            numbers.add(number);
            time.passMs(ms);
            compiledMs += compiles.test(number) ? 1 : 0;
        });
        assertThat(numbers).isEqualTo(IntStream.range(0, numbers.size()).boxed().toList());
        return numbers.size();
    }

    /** After 200 ms of messages without any compilation. */
    @Test
    void sideAloneEndsByItself() throws IOException {
        assertThat(roundsAlone(5, _ -> false)).isEqualTo(200 / 5);
    }

    @Test
    void compilationAsksForMore() throws IOException {
        assertThat(roundsAlone(50, number -> number == 2)).isEqualTo(3 + 200 / 50);
    }

    @Test
    void compilationWithoutEndDoesNotAskForEver() throws IOException {
        assertThat(roundsAlone(500, _ -> true))
                .isEqualTo((int) WarmUpRounds.LONGEST.toMillis() / 500);
    }
}
