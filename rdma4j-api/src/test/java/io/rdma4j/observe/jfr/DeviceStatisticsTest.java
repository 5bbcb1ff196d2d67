// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.observe.jmx.QueuePairData;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class DeviceStatisticsTest {
    private final DeviceStatistics statistics = new DeviceStatistics();

    @TempDir
    private Path directory;

    /** Counts what the test says. */
    private static final class Device implements DeviceMXBean {
        final Map<String, Long> counters = new HashMap<>();

        @Override
        public String getName() {
            return "roce_test";
        }

        @Override
        public List<String> getGids() {
            return List.of();
        }

        @Override
        public int getContexts() {
            return 1;
        }

        @Override
        public Map<String, Long> getCounters() {
            return Map.copyOf(counters);
        }

        @Override
        public int getQueuePairCount() {
            return 3;
        }

        @Override
        public List<QueuePairData> getQueuePairs() {
            return List.of();
        }
    }

    private List<RecordedEvent> recorded(Recording recording) throws Exception {
        recording.stop();
        Path file = directory.resolve("recorded.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream().filter(event -> event.getEventType()
                .getName().equals("io.rdma4j.DeviceStatistics")).toList();
    }

    @Test
    void eventTellsWhatWasAddedSinceTheLastLook() throws Exception {
        Device device = new Device();
        device.counters.putAll(Map.of("sent_pkts", 100L, "rcvd_pkts", 90L, "sent_bytes", 5_000L,
                "rcvd_bytes", 4_000L, "retransmitted_pkts", 2L, "retry_exceeded_err", 1L,
                "retry_rnr_exceeded_err", 0L, "dropped_bad_icrc", 1L, "dropped_bad_mad", 1L));
        try (Recording recording = new Recording()) {
            recording.enable(DeviceStatisticsEvent.class);
            recording.start();
            statistics.add(device);
            statistics.emit(); // only looks
            device.counters.putAll(Map.of("sent_pkts", 110L, "sent_bytes", 6_000L,
                    "retry_rnr_exceeded_err", 2L, "dropped_bad_mad", 5L));
            statistics.emit();
            statistics.remove(device);
            statistics.emit();

            assertThat(recorded(recording)).singleElement().satisfies(event -> {
                assertThat(event.getString("device")).isEqualTo("roce_test");
                assertThat(event.getInt("queuePairs")).isEqualTo(3);
                assertThat(event.getLong("sentPackets")).isEqualTo(10);
                assertThat(event.getLong("receivedPackets")).isZero();
                assertThat(event.getLong("sentBytes")).isEqualTo(1_000);
                assertThat(event.getLong("receivedBytes")).isZero();
                assertThat(event.getLong("retransmittedPackets")).isZero();
                assertThat(event.getLong("failures")).isEqualTo(2);
                assertThat(event.getLong("drops")).isEqualTo(4);
                long elapsedNs = event.getDuration("elapsed").toNanos();
                assertThat(elapsedNs).isPositive();
                assertThat(event.getDouble("sendRate")).isCloseTo(1_000 * 1e9 / elapsedNs,
                        Percentage.withPercentage(0.1));
                assertThat(event.getDouble("receiveRate")).isZero();
            });
        }
    }

    @Test
    void whatADeviceDoesNotCountIsNotTold() throws Exception {
        Device device = new Device();
        device.counters.putAll(Map.of("port_xmit_data", 10L, "port_rcv_packets", 1L));
        try (Recording recording = new Recording()) {
            recording.enable(DeviceStatisticsEvent.class);
            recording.start();
            statistics.add(device);
            statistics.emit();
            device.counters.putAll(Map.of("port_xmit_data", 12L, "port_rcv_packets", 4L));
            statistics.emit();

            assertThat(recorded(recording)).singleElement().satisfies(event -> {
                // The kernel counts words of four bytes.
                assertThat(event.getLong("sentBytes")).isEqualTo(8);
                assertThat(event.getLong("receivedPackets")).isEqualTo(3);
                for (String other : List.of("sentPackets", "receivedBytes",
                        "retransmittedPackets", "failures", "drops")) {
                    assertThat(event.getLong(other)).as(other).isEqualTo(-1);
                }
            });
        }
    }
}
