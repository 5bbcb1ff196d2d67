// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Many queue pairs behind one link whose queue is shorter than one packet of each: all get through. */
class RcNarrowLinkTest {
    /** A packet of 1024 bytes with its headers at 100 Mbit/s, and how many of them a queue of 64 KiB has. */
    private static final long LINK_NS = 88_000;
    private static final int LINK_QUEUE = 59;
    private static final int MESSAGES = 3;
    private static final int LENGTH = RcEnd.UPPER;

    private final RcPair.Devices devices = new RcPair.Devices();
    private final List<RcPair> pairs = new ArrayList<>();

    /** @param timeout that of test programs, or that of the connection manager */
    @ParameterizedTest
    @CsvSource({"20, 14", "128, 14", "128, 16", "256, 14"})
    void everyQueuePairGetsThrough(int count, int timeout) {
        assertEachGetsThrough(count, timeout);
    }

    /** Without time-outs that are stretched, some of 256 fail already. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"256, 16", "512, 14"})
    void everyOneOfStillMoreQueuePairsGetsThrough(int count, int timeout) {
        assertEachGetsThrough(count, timeout);
    }

    private void assertEachGetsThrough(int count, int timeout) {
        devices.wire.linkNs = LINK_NS;
        devices.wire.linkQueue = LINK_QUEUE;
        for (int i = 0; i < count; i++) {
            RcPair.Settings settings = new RcPair.Settings();
            settings.timeout = timeout;
            pairs.add(new RcPair(settings, devices));
        }
        for (RcPair pair : pairs) {
            for (int id = 1; id <= MESSAGES; id++) {
                pair.a.write(id, LENGTH);
            }
        }
        devices.wire.settle();
        assertThat(pairs).allSatisfy(pair -> assertThat(pair.a.completions).hasSize(MESSAGES)
                .allMatch(RcEnd.Completion::isSuccess));
        long needed = (long) count * MESSAGES * LENGTH / pairs.getFirst().settings.mtu.bytes();
        assertThat(repeated()).isLessThan(4 * needed);
        assertThat(devices.wire.nowNs()).isLessThan(4 * needed * LINK_NS);
    }

    private long repeated() {
        return pairs.stream().mapToLong(pair -> pair.a.counted(Counter.RETRANSMITTED_PKTS)).sum();
    }
}
