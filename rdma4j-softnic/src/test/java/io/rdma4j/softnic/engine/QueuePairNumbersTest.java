// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import java.util.BitSet;
import java.util.Random;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class QueuePairNumbersTest {
    private static final int ALL = 1 << 24;

    private static QueuePairNumbers ofSeed(long seed) {
        return QueuePairNumbers.all(new Random(seed)::nextInt);
    }

    @Test
    void noNumberComesTwiceBeforeAllWereUsed() {
        QueuePairNumbers numbers = ofSeed(1);
        BitSet used = new BitSet(ALL);
        for (int i = 0; i < ALL; i++) {
            used.set(numbers.next());
        }
        assertThat(used.cardinality()).isEqualTo(ALL);
    }

    @Test
    void numbersBehindPrefixesAreAllThoseOfEach() {
        QueuePairNumbers numbers = QueuePairNumbers.behind(7, new Random(1)::nextInt);
        assertThat(numbers.count()).isEqualTo(1 << 16);
        assertThat(IntStream.range(0, 1 << 16).map(i -> numbers.next()).distinct()
                .filter(number -> number >>> 16 == 7)).hasSize(1 << 16);
        numbers.add(9);
        assertThat(numbers.count()).isEqualTo(2 << 16);
        assertThat(IntStream.range(0, 2 << 16).map(i -> numbers.next()).distinct()
                .filter(number -> number >>> 16 == 7 || number >>> 16 == 9)).hasSize(2 << 16);
    }

    @Test
    void theirOrderIsThatOfTheKeys() {
        QueuePairNumbers one = ofSeed(1);
        QueuePairNumbers other = ofSeed(2);
        long equal = IntStream.range(0, 1000).filter(i -> one.next() == other.next()).count();
        assertThat(equal).isLessThan(3);
    }

    /** Of 1,000 steps from a number to the next about half go up. */
    @Test
    void neighboursLieFarApart() {
        QueuePairNumbers numbers = ofSeed(3);
        int[] drawn = IntStream.range(0, 1001).map(i -> numbers.next()).toArray();
        assertThat(IntStream.range(0, 1000).filter(i -> drawn[i] < drawn[i + 1]).count())
                .isBetween(400L, 600L);
        assertThat(IntStream.range(0, 1000).filter(i -> Math.abs(drawn[i] - drawn[i + 1]) < 1000)
                .count()).isLessThan(10);
    }

    /** Engines of several devices take from the same. */
    @Test
    void numbersAreShortIfMostAreInUseByAllDevicesTogether() {
        QueuePairNumbers numbers = QueuePairNumbers.behind(7, new Random(1)::nextInt);
        int most = (1 << 16) / 4 * 3;
        for (int i = 1; i < most; i++) {
            numbers.taken();
        }
        assertThat(numbers.isShort()).isFalse();
        numbers.taken();
        assertThat(numbers.isShort()).isTrue();
        numbers.returned();
        assertThat(numbers.isShort()).isFalse();
        numbers.taken();
        numbers.add(8);
        assertThat(numbers.isShort()).isFalse();
    }
}
