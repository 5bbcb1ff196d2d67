// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** A path that loses packets for other reasons than a full queue, but whose round trips are as long as if it were one. */
class RcLossyPathTest {
    private static final int MESSAGES = 80;
    private static final int LENGTH = 4096;
    private static final long LATENCY_NS = 1_500_000;

    /** Each message after the one before. */
    // [IBTA 9.5-1]
    @ParameterizedTest
    @CsvSource({"0, 1", "10, 2", "20, 5", "30, 12"})
    void messagesGetThroughInTime(int percent, int seconds) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 16;
        RcPair pair = new RcPair(settings);
        pair.wire.latencyNs = LATENCY_NS;
        Random random = new Random(1);
        pair.wire.loseIf(packet -> random.nextInt(100) < percent);
        for (int id = 1; id <= MESSAGES; id++) {
            pair.a.write(id, LENGTH);
            pair.settle();
            assertThat(pair.a.completions).hasSize(id).allMatch(RcEnd.Completion::isSuccess);
        }
        assertThat(pair.wire.nowNs()).isLessThan(seconds * RcPair.SECOND);
    }
}
