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
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** When rounds end, how many messages they have, and when another side is created. */
class WarmUpRoundsTest {
    private static final int WANTED = 1;
    private static final int COMPLETE = 2;

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

    /** Writes down what is played. Its messages take 1 ms each. */
    private static class Log implements WarmUpRounds.Sides<Closeable> {
        final List<String> lines = new ArrayList<>();
        final List<Integer> messages = new ArrayList<>();
        final IntPredicate isLost;
        Duration silence = Duration.ZERO;
        int sides;

        Log() {
            this(number -> false);
        }

        /** @param isLost which rounds lose a message */
        Log(IntPredicate isLost) {
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
            takeTime(count);
            return !isLost.test(number);
        }
    }

    private static void takeTime(int messages) {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(messages);
        while (System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    @Test
    void sideIsReplacedAfterSomeRoundsAndAfterALoss() throws IOException {
        Log log = new Log(number -> number == 3);
        new WarmUpRounds(peer(24, 1), 1, 1, 1).play(log, 0);
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
        Log log = new Log();
        new WarmUpRounds(peer(6, 1), 1, 1, 1).play(log, 0);
        assertThat(log.messages).startsWith(8, 32).allMatch(count -> count <= 50);
    }

    @Test
    void roundsHaveNoMoreThanTheirShareAndWholeLists() throws IOException {
        List<Integer> counts = new ArrayList<>();
        WarmUpRounds rounds = new WarmUpRounds(peer(20, 0), 2, 100, 7);
        assertThat(rounds.most()).isEqualTo(35);
        rounds.play((_, messages) -> {
            counts.add(messages);
            takeTime(1);
        });
        assertThat(counts).startsWith(14, 14).contains(rounds.most())
                .allMatch(count -> count % 7 == 0 && count <= rounds.most());
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
        Log slow = new Log();
        Log fast = new Log() {
            @Override
            public boolean play(Closeable side, int number, int count) {
                messages.add(count);
                return true;
            }
        };
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
            try {
                new WarmUpRounds(agreement, 1, 1, 1).play(fast, 0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        new WarmUpRounds(agreement, 1, 1, 1).play(slow, 0);
        other.get(60, TimeUnit.SECONDS);
        assertThat(fast.messages).isEqualTo(slow.messages);
    }

    @Test
    void distantPeersAndLongMessagesHaveMoreTime() throws IOException {
        Log near = new Log();
        new WarmUpRounds(peer(1, 1), 1, 1, 1).play(near, 0);
        assertThat(near.silence).isEqualTo(Duration.ofMillis(50));
        Log distant = new Log();
        WarmUpRounds.Agreement answers = peer(1, 1);
        new WarmUpRounds(own -> {
            takeTime(20);
            return answers.exchange(own);
        }, 1, 1, 1).play(distant, 1 << 23);
        assertThat(distant.silence).isGreaterThan(Duration.ofMillis(8 * 20 + 500));
    }

    /** Waiting for a message that does not come is not the time of messages, after which all is compiled. */
    @Test
    void lossesDoNotCountAsMessagesWithoutCompilation() throws IOException {
        Log log = new Log(number -> {
            takeTime(50);
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
        assertThatThrownBy(() -> new WarmUpRounds(alone, 1, 1, 1).play(log, 0))
                .hasMessage("enough");
    }

    @Test
    void failureClosesTheSide() {
        Log log = new Log(number -> {
            throw new IllegalStateException("failed");
        });
        assertThatThrownBy(() -> new WarmUpRounds(peer(9, 1), 1, 1, 1).play(log, 0))
                .hasMessage("failed");
        assertThat(log.lines).containsExactly("connect 1", "play 0", "close 1");
    }

    @Test
    void sideAloneEndsByItself() throws IOException {
        int[] rounds = new int[1];
        new WarmUpRounds(WarmUpRounds.Agreement.ALONE, 1, 1, 1).play((number, messages) -> {
            assertThat(number).isEqualTo(rounds[0]++);
            takeTime(5);
        });
        assertThat(rounds[0]).isPositive();
    }
}
