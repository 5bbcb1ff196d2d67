// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers of requests, whether or not they are alike. */
class ReceiveColumnTest {
    static Stream<Arguments> rows() {
        return Stream.of(List.of(7L, 7L, 7L, 7L), List.of(7L, 7L, 8L, 7L), List.of(0L, 7L, 0L, 1L),
                List.of(7L, 7L + Short.MAX_VALUE, 7L + Short.MIN_VALUE, 7L),
                List.of(7L, 8L + Short.MAX_VALUE, 7L, 9L), List.of(7L, 9L, 1L << 60, 8L),
                List.of(7L, 6L + Short.MIN_VALUE, 8L, 7L),
                List.of(Long.MIN_VALUE, Long.MAX_VALUE, 0L, -1L),
                List.of(Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE - 1, 0L))
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("rows")
    void eachPlaceKeepsItsNumberUntilThereIsAnother(List<Long> row) {
        int count = row.size();
        ReceiveColumn column = new ReceiveColumn(count);
        for (int turn = 0; turn < count; turn++) {
            for (int i = 0; i < count; i++) {
                column.put(i, row.get((i + turn) % count));
                for (int before = 0; before <= i; before++) {
                    assertThat(column.get(before)).isEqualTo(row.get((before + turn) % count));
                }
            }
        }
    }
}
