package io.rdma4j.softnic;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static org.assertj.core.api.Assertions.assertThat;

/** What the log says of a send that waits for a receive of its peer. */
class WaitingSenderTest {
    /** Held, or the logging system would forget the handler with the logger. */
    private static final Logger LOGGER = Logger
            .getLogger("io.rdma4j.softnic.roce.RoceQueuePair");

    private final List<String> lines = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final Pair pair = new Pair();

    WaitingSenderTest() throws Exception {}

    @BeforeEach
    void listen() {
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(handler);
    }

    @AfterEach
    void stopListening() {
        LOGGER.removeHandler(handler);
        LOGGER.setUseParentHandlers(true);
    }

    @Test
    void oneLineAfterTwoSecondsNamesThePeerAndTheRemedy() throws Exception {
        pair.a.send(1, 10);
        pair.run(19 * Pair.SECOND / 10);
        assertThat(lines).isEmpty();
        pair.run(4 * Pair.SECOND);
        assertThat(lines).singleElement().asString().doesNotContain("\n")
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
            assertThat(lines).hasSize(silence);
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
        assertThat(lines).isEmpty();
    }
}
