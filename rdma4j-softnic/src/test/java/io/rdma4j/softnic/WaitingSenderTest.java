// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.LogLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** What the log says of a send that waits for a receive of its peer. */
class WaitingSenderTest {

    @RegisterExtension
    final LogLines log = LogLines.of("io.rdma4j.softnic.roce.RoceQueuePair");
    private final Pair pair = new Pair();

    WaitingSenderTest() throws Exception {}

    @Test
    void oneLineAfterTwoSecondsNamesThePeerAndTheRemedy() throws Exception {
        pair.a.send(1, 10);
        pair.run(19 * Pair.SECOND / 10);
        assertThat(log.lines()).isEmpty();
        pair.run(4 * Pair.SECOND);
        assertThat(log.lines()).singleElement().asString().doesNotContain("\n")
                .contains(String.format("queue pair 0x%06x of ", pair.b.queuePair.number()),
                        "a receive must be posted there");
        pair.b.receive(10, 10);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void eachSilenceIsToldOnce() throws Exception {
        for (int silence = 1; silence <= 2; silence++) {
            pair.a.send(silence, 10);
            pair.run(21 * Pair.SECOND / 10);
            assertThat(log.lines()).hasSize(silence);
            pair.b.receive(10 + silence, 10);
            pair.settle();
        }
    }

    @Test
    void receiveThatComesInTimeIsNoNews() throws Exception {
        for (int round = 0; round < 3; round++) {
            pair.a.send(round, 10);
            pair.run(Pair.SECOND);
            pair.b.receive(10 + round, 10);
            pair.settle();
        }
        assertThat(log.lines()).isEmpty();
    }
}
