package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.network.stream.TcpCapture;
import io.rdma4j.softnic.network.stream.TcpCapture.Segment;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.rdma4j.softnic.iwarp.RecordedDirection.SEND;
import static io.rdma4j.softnic.iwarp.RecordedDirection.TERMINATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Devices opened over streams made worse, and messages of one unit and one write each. With these seeds it befalls one of
 * the first messages, and nothing else; which one depends on how long the set-up takes.
 */
class ImpairedDeviceTest {
    private static final int LENGTH = 1000;
    private static final int GREETING = 1_000_000;

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("impaired.pcap");
    }

    /** Both sides of a connection, of a device whose recording has what really leaves. */
    private static final class Impaired extends IwarpStage implements AutoCloseable {
        Impaired(String impairment, Path file, boolean wantsCrc) throws Exception {
            super(open(DeviceOptions.DEFAULT.withImpairment(Impairment.parse(impairment))
                    .withCapture(file), wantsCrc), ADDRESS);
        }

        void begin() throws Exception {
            connect();
            client.receive(GREETING, LENGTH);
            server.queuePair.postSend(new SendWorkRequest().send().add(server.region, 0, LENGTH));
            // From now on the client does not repeat its first unit.
            client.awaitSuccess(GREETING);
            for (int i = 0; i < DEPTH; i++) {
                server.queuePair.postReceive(receive(i));
            }
        }

        private ReceiveWorkRequest receive(int i) {
            return new ReceiveWorkRequest().id(i).add(server.region,
                    (long) i * LENGTH, LENGTH);
        }

        /** Sends the next message, whose bytes have its number. {@return how it completes} */
        WorkCompletionStatus send(int i) throws Exception {
            client.memory.asSlice((long) i * LENGTH, LENGTH).fill((byte) i);
            client.queuePair.postSend(new SendWorkRequest().id(i).send()
                    .add(client.region, (long) i * LENGTH, LENGTH).set(SendFlag.SIGNALED));
            assertThat(client.await().id()).isEqualTo(i);
            return client.completion.status();
        }

        /** Sends until the connection is over. {@return how many completed with success} */
        int sendUntilTheEnd() throws Exception {
            for (int i = 0; i < DEPTH; i++) {
                WorkCompletionStatus status = send(i);
                if (status != WorkCompletionStatus.SUCCESS) {
                    assertThat(status).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
                    return i;
                }
            }
            throw new AssertionError("all messages were sent");
        }

        /** {@return how many messages have arrived before the end, by which the other receives are flushed} */
        int arrivedBeforeTheEnd() throws Exception {
            int arrived = 0;
            for (int i = 0; i < DEPTH; i++) {
                assertThat(server.await().id()).isEqualTo(i);
                if (server.completion.status() == WorkCompletionStatus.SUCCESS) {
                    assertThat(arrived).as("no gap").isEqualTo(i);
                    assertThat(arrivedBits(i)).isZero();
                    arrived++;
                } else {
                    assertThat(server.completion.status())
                            .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
                }
            }
            return arrived;
        }

        /** {@return how many bits of a message are not as they were sent} */
        int arrivedBits(int i) {
            MemorySegment arrived = server.memory.asSlice((long) i * LENGTH, LENGTH);
            int wrong = 0;
            for (byte each : arrived.toArray(ValueLayout.JAVA_BYTE)) {
                wrong += Integer.bitCount((each ^ i) & 0xff);
            }
            return wrong;
        }

        void assertOver() throws Exception {
            client.awaitWord("over");
            server.awaitWord("over");
            assertThat(client.heard).containsExactly("established", "disconnected", "over");
            assertThat(server.heard).containsExactly("request", "established", "disconnected",
                    "over");
            assertThat(client.queuePair.query().state()).isEqualTo(QueuePairState.ERR);
            assertThat(server.queuePair.query().state()).isEqualTo(QueuePairState.ERR);
        }

        @Override
        public void close() throws RdmaException {
            super.close();
        }
    }

    private List<Segment> recorded() throws Exception {
        return TcpCapture.segments(file());
    }

    // ---------------------------------------------------------------- what streams take

    /** By the CRC the receiver notices it, and says so before it ends the connection. */
    @Test
    void aDamagedUnitEndsAConnectionWithCrcByATerminate() throws Exception {
        int arrived;
        try (Impaired stage = new Impaired("corrupt=1%,seed=3", file(), true)) {
            stage.begin();
            int sent = stage.sendUntilTheEnd();
            stage.assertOver();
            arrived = stage.arrivedBeforeTheEnd();
            // The sender hears of it after it has sent it.
            assertThat(arrived).isLessThan(sent);
        }
        RecordedDirection request = new RecordedDirection(recorded(),
                recorded().getFirst().from());
        assertThat(request.units(SEND).get(arrived))
                .matches(unit -> unit.crc() != unit.rightCrc(), "it is damaged");
        RecordedDirection reply = new RecordedDirection(recorded(), recorded().getFirst().to());
        assertThat(reply.units).last().satisfies(unit -> {
            assertThat(unit.opcode()).isEqualTo(TERMINATE);
            // LLP, MPA, a wrong CRC; no headers. RFC 5040 4.8, RFC 5044 8.
            assertThat(unit.payload()).containsExactly(0x20, 2, 0, 0);
            assertThat(unit.crc()).isEqualTo(unit.rightCrc());
        });
    }

    @Test
    void withoutACrcNobodyNoticesADamagedUnit() throws Exception {
        try (Impaired stage = new Impaired("corrupt=1%,seed=3", file(), false)) {
            stage.begin();
            int wrong = 0;
            for (int i = 0; i < IwarpStage.DEPTH; i++) {
                assertThat(stage.send(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
                stage.server.awaitSuccess(i);
                wrong += stage.arrivedBits(i);
            }
            assertThat(wrong).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"'cut=1%,seed=2', FIN", "'reset=1%,seed=51', RST"})
    void aConnectionThatEndsInTheMiddleOfAMessageEndsOnBothSides(String impairment, String end)
            throws Exception {
        int arrived;
        try (Impaired stage = new Impaired(impairment, file(), false)) {
            stage.begin();
            int sent = stage.sendUntilTheEnd();
            stage.assertOver();
            arrived = stage.arrivedBeforeTheEnd();
            // It was complete for the sender, which knows no more of a stream.
            assertThat(arrived).isEqualTo(sent - 1);
        }
        List<Segment> segments = recorded();
        RecordedDirection request = new RecordedDirection(segments, segments.getFirst().from());
        assertThat(request.units(SEND)).hasSize(arrived);
        assertThat(request.rest).as("half a unit").isEqualTo((20 + LENGTH + 4) / 2);
        assertThat(segments).filteredOn(each -> each.from().equals(segments.getFirst().from()))
                .extracting(Segment::flags)
                .contains(TcpCapture.ACK | ("FIN".equals(end) ? TcpCapture.FIN : TcpCapture.RST));
    }

    @Test
    void aStalledConnectionGoesOnHalfASecondLater() throws Exception {
        try (Impaired stage = new Impaired("stall=1%,seed=2", file(), false)) {
            stage.begin();
            long longestNs = 0;
            for (int i = 0; i < IwarpStage.DEPTH; i++) {
                long startNs = System.nanoTime();
                assertThat(stage.send(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
                stage.server.awaitSuccess(i);
                longestNs = Math.max(longestNs, System.nanoTime() - startNs);
                assertThat(stage.arrivedBits(i)).isZero();
            }
            assertThat(longestNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
            assertThat(stage.client.heard).containsExactly("established");
        }
    }

    // ---------------------------------------------------------------- what they do not

    @ParameterizedTest
    @ValueSource(strings = {"loss", "duplicate", "reorder"})
    void whatOnlyPacketsSufferIsRefused(String name) throws Exception {
        RdmaDevice device = RdmaDevices.find("iwarp_lo");
        DeviceOptions options = DeviceOptions.DEFAULT
                .withImpairment(Impairment.parse(name + "=1%"));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> options.open(device))
                .withMessage("open device: impairment '" + name + "' is for packets;"
                        + " a byte stream has delay, jitter, corrupt, stall, cut and reset"
                        + " (EOPNOTSUPP)")
                .matches(e -> e.errno() == Errno.EOPNOTSUPP);
        DeviceOptions.DEFAULT.open(device).close();
    }
}
