package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.softnic.network.SimulatedNetwork;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static org.assertj.core.api.Assertions.assertThat;

/** What the log says of a defect that fails one queue pair. */
class DefectLogTest {
    private static final Logger LOGGER = Logger.getLogger(Engine.class.getName());

    private final Engine engine = new Engine(new SimulatedNetwork(1).newNode(),
            new IbConnectionManager(CmSettings.defaults(1), () -> 1), () -> 7, ring -> {});
    private final EngineDriver driver = new EngineDriver(engine, () -> 0, null, () -> {});

    private static final class Records extends Handler {
        final List<LogRecord> all = new ArrayList<>();

        @Override
        public void publish(LogRecord record) {
            all.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void defectIsLoggedWithTheNumberOfItsQueuePairAsElsewhere() {
        PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
        IllegalArgumentException defect = new IllegalArgumentException("broken");
        queuePair.whenHeard(() -> {
            throw defect;
        });
        Records records = new Records();
        LOGGER.addHandler(records);
        LOGGER.setUseParentHandlers(false);
        try {
            queuePair.post(EngineQueuePair.SEND_DOORBELL);
        } finally {
            LOGGER.removeHandler(records);
            LOGGER.setUseParentHandlers(true);
        }
        assertThat(records.all).singleElement().satisfies(record -> {
            assertThat(record.getMessage()).isEqualTo(String.format(
                    "queue pair 0x%06x failed by a defect in its protocol", queuePair.number()));
            assertThat(record.getThrown()).isSameAs(defect);
        });
    }
}
