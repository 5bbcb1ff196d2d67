// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.testkit.LogLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** What the log says of a defect that fails one queue pair. */
class DefectLogTest {
    @RegisterExtension
    final LogLines log = LogLines.of(Engine.class);
    private final Engine engine = new Engine(() -> 7, new QuietLink());
    private final EngineDriver driver = new EngineDriver(engine, () -> 0, null, () -> {});

    @Test
    void defectIsLoggedWithTheNumberOfItsQueuePairAsElsewhere() {
        PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
        IllegalArgumentException defect = new IllegalArgumentException("broken");
        queuePair.whenHeard(() -> {
            throw defect;
        });
        queuePair.post(EngineQueuePair.SEND_DOORBELL);
        assertThat(log.records()).singleElement().satisfies(record -> {
            assertThat(record.getMessage()).isEqualTo(String.format(
                    "queue pair 0x%06x failed by a defect in its protocol", queuePair.number()));
            assertThat(record.getThrown()).isSameAs(defect);
        });
    }
}
