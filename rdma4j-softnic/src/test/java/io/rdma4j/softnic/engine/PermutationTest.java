// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class PermutationTest {
    @ParameterizedTest
    @ValueSource(ints = {2, 8, 16})
    void eachNumberComesOnce(int bits) {
        Permutation order = new Permutation(bits, new Random(1)::nextInt);
        assertThat(IntStream.range(0, 1 << bits).map(order::of).sorted().toArray())
                .isEqualTo(IntStream.range(0, 1 << bits).toArray());
        assertThat(order.of(1 << bits)).isEqualTo(order.of(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {24, 32})
    void noneOfManyComesTwice(int bits) {
        Permutation order = new Permutation(bits, new Random(2)::nextInt);
        assertThat(IntStream.range(-50_000, 50_000).map(order::of).distinct().count())
                .isEqualTo(100_000);
    }

    /** A number tells neither the next one nor how far it is. */
    @ParameterizedTest
    @ValueSource(ints = {16, 24, 32})
    void stepsAreOfEveryLength(int bits) {
        Permutation order = new Permutation(bits, new Random(3)::nextInt);
        assertThat(IntStream.range(0, 1000).map(i -> order.of(i + 1) - order.of(i)).distinct()
                .count()).isGreaterThan(980);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 24, 32})
    void eachProcessHasAnotherOrder(int bits) {
        Permutation one = new Permutation(bits, new Random(4)::nextInt);
        Permutation other = new Permutation(bits, new Random(5)::nextInt);
        assertThat(IntStream.range(0, 1000).filter(i -> one.of(i) == other.of(i)).count())
                .isLessThan(5);
    }
}
