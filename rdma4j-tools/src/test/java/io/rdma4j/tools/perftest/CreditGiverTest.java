// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Of how many messages a sender is told. */
class CreditGiverTest {
    @ParameterizedTest
    @CsvSource({"0, 512, 0", "1, 1, 1", "2, 1, 2", "7, 8, 6", "8, 8, 8", "9, 8, 8", "40, 40, 40",
        "169, 512, 0", "1000, 512, 852", "1023, 512, 1022", "1024, 512, 1024"})
    void senderIsToldThreeTimesInEachRoundOfReceives(long messages, int receives, long last) {
        assertThat(CreditGiver.lastCredit(messages, receives)).isEqualTo(last);
    }
}
