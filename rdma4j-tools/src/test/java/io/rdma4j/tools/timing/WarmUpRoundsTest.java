package io.rdma4j.tools.timing;

import org.junit.jupiter.api.Test;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** When rounds end, and when another side is connected. */
class WarmUpRoundsTest {
    private static final int ROUNDS = 40;

    /** Writes down what is played. */
    private static final class Log implements WarmUpRounds.OwnSides<Closeable> {
        final List<String> lines = new ArrayList<>();
        final IntPredicate isLossy;
        int sides;

        Log(IntPredicate isLossy) {
            this.isLossy = isLossy;
        }

        @Override
        public Closeable create() {
            int side = ++sides;
            return () -> lines.add("close " + side);
        }

        @Override
        public void connect(Closeable side) {
            lines.add("connect " + sides);
        }

        @Override
        public boolean play(Closeable side, int number) {
            lines.add("play " + number);
            return !isLossy.test(number);
        }
    }

    /** A peer that has lost nothing and wants so many rounds; this side's JVM wants fewer. */
    private static final class Peer implements WarmUpRounds.Agreement {
        private int asked;

        @Override
        public boolean isWantedByEither(boolean isWanted) {
            asked++;
            // After each round it is first asked about losses.
            return asked % 2 == 1 ? isWanted : asked / 2 < ROUNDS;
        }
    }

    @Test
    void sideIsReplacedAfterSomeRoundsAndAfterALoss() throws IOException {
        Log log = new Log(number -> number == 3);
        WarmUpRounds.play(log, new Peer());
        assertThat(log.lines.stream().filter(line -> line.startsWith("play"))).hasSize(ROUNDS);
        assertThat(log.lines).startsWith("connect 1", "play 0", "play 1", "play 2", "play 3",
                "close 1", "connect 2", "play 4");
        assertThat(log.lines.indexOf("close 2") - log.lines.indexOf("connect 2") - 1)
                .isEqualTo(log.roundsOfASide());
        assertThat(log.lines).endsWith("play " + (ROUNDS - 1), "close " + log.sides);
    }

    @Test
    void failureClosesTheSide() {
        Log log = new Log(number -> {
            throw new IllegalStateException("failed");
        });
        assertThatThrownBy(() -> WarmUpRounds.play(log, new Peer())).hasMessage("failed");
        assertThat(log.lines).containsExactly("connect 1", "play 0", "close 1");
    }

    @Test
    void roundsGrowButStaySmallWithLongMessages() {
        assertThat(WarmUpRounds.messages(0, 1)).isEqualTo(512);
        assertThat(WarmUpRounds.messages(8, 1)).isEqualTo(1024);
        assertThat(WarmUpRounds.messages(1000, 0)).isEqualTo(WarmUpRounds.MOST_MESSAGES);
        assertThat(WarmUpRounds.messages(1000, 1 << 20)).isEqualTo(16);
        assertThat(WarmUpRounds.messages(0, 1L << 31)).isEqualTo(1);
    }

    /** What compiles is not this thread alone, so only the end is certain. */
    @Test
    void sideAloneEndsByItself() throws IOException {
        List<Integer> numbers = new ArrayList<>();
        WarmUpRounds.play(numbers::add, WarmUpRounds.Agreement.ALONE);
        assertThat(numbers).isNotEmpty().startsWith(0).doesNotHaveDuplicates();
    }
}
