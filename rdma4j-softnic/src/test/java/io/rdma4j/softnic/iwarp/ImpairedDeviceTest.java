// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.count.Counter;
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

import static io.rdma4j.softnic.Counted.counted;
import static io.rdma4j.softnic.iwarp.RecordedDirection.SEND;
import static io.rdma4j.softnic.iwarp.RecordedDirection.TERMINATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Devices opened over streams made worse, and messages of one unit and one write each. With these seeds the impairment befalls one
 * write of the device and no other: that of a message, as the set-up has fewer. Which message depends on how long the set-up
 * takes, because a client whose server is late repeats its first unit.
 */
class ImpairedDeviceTest {
    private static final int LENGTH = 1000;
    private static final int GREETING = 1_000_000;
    /** The request and the reply. */
    private static final int FRAMES = 2;

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

        /**
         * Connects.
         *
         * @param impaired the number of the write that the seed chooses, from 0 on
         * @return the number of the message whose write that is
         */
        int begin(int impaired) throws Exception {
            connect();
            client.receive(GREETING, LENGTH);
            server.queuePair.postSend(new SendWorkRequest().send().add(server.region, 0, LENGTH));
            // From now on the client does not repeat its first unit.
            client.awaitSuccess(GREETING);
            for (int i = 0; i < DEPTH; i++) {
                server.queuePair.postReceive(receive(i));
            }
            // Units of either side, of which each was a write of its own.
            int before = FRAMES + (int) counted(context, Counter.SENT_PKTS);
            assertThat(before).as("writes before the first message")
                    .isLessThanOrEqualTo(impaired);
            return impaired - before;
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

        /**
         * Sends messages, each when the one before has arrived, so that the system has none that a reset would drop. The
         * impaired one is complete for its sender, too, which knows only that the stream has taken it; it does not arrive, and
         * ends the connection.
         */
        void sendUntilTheEnd(int impaired) throws Exception {
            for (int i = 0; i < impaired; i++) {
                assertThat(send(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
                server.awaitSuccess(i);
                assertThat(wrongBits(i)).isZero();
            }
            assertThat(send(impaired)).isEqualTo(WorkCompletionStatus.SUCCESS);
            for (int i = impaired; i < DEPTH; i++) {
                assertThat(server.await().id()).isEqualTo(i);
                assertThat(server.completion.status())
                        .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            }
            assertOver();
            assertThat(send(impaired + 1)).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        }

        /** {@return how many bits of a message are not as they were sent} */
        int wrongBits(int i) {
            MemorySegment arrived = server.memory.asSlice((long) i * LENGTH, LENGTH);
            int wrong = 0;
            for (byte each : arrived.toArray(ValueLayout.JAVA_BYTE)) {
                wrong += Integer.bitCount((each ^ i) & 0xff);
            }
            return wrong;
        }

        private void assertOver() throws Exception {
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
    // [RFC 5044 4.4-3]
    @Test
    void aDamagedUnitEndsAConnectionWithCrcByATerminate() throws Exception {
        int damaged;
        try (Impaired stage = new Impaired("corrupt=1%,seed=3", file(), true)) {
            damaged = stage.begin(14);
            stage.sendUntilTheEnd(damaged);
        }
        RecordedDirection request = new RecordedDirection(recorded(),
                recorded().getFirst().from());
        assertThat(request.units(SEND)).hasSize(damaged + 1);
        assertThat(request.units(SEND).get(damaged))
                .matches(unit -> unit.crc() != unit.rightCrc(), "it is damaged");
        RecordedDirection reply = new RecordedDirection(recorded(), recorded().getFirst().to());
        assertThat(reply.units).last().satisfies(unit -> {
            assertThat(unit.opcode()).isEqualTo(TERMINATE);
            // LLP, MPA, a wrong CRC; no headers. RFC 5040 4.8, RFC 5044 8.
            assertThat(unit.payload()).containsExactly(0x20, 2, 0, 0);
            assertThat(unit.crc()).isEqualTo(unit.rightCrc());
        });
    }

    // [RFC 5044 4.1-2]
    @Test
    void withoutACrcNobodyNoticesADamagedUnit() throws Exception {
        try (Impaired stage = new Impaired("corrupt=1%,seed=3", file(), false)) {
            int damaged = stage.begin(14);
            for (int i = 0; i < IwarpStage.DEPTH; i++) {
                assertThat(stage.send(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
                stage.server.awaitSuccess(i);
                assertThat(stage.wrongBits(i)).isEqualTo(i == damaged ? 1 : 0);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"'cut=1%,seed=2', 33, FIN", "'reset=1%,seed=51', 19, RST"})
    void aConnectionThatEndsInTheMiddleOfAMessageEndsOnBothSides(String impairment, int write,
            String end) throws Exception {
        int cutShort;
        try (Impaired stage = new Impaired(impairment, file(), false)) {
            cutShort = stage.begin(write);
            stage.sendUntilTheEnd(cutShort);
        }
        List<Segment> segments = recorded();
        RecordedDirection request = new RecordedDirection(segments, segments.getFirst().from());
        assertThat(request.units(SEND)).hasSize(cutShort);
        assertThat(request.rest).as("half a unit").isEqualTo((20 + LENGTH + 4) / 2);
        assertThat(segments).filteredOn(each -> each.from().equals(segments.getFirst().from()))
                .extracting(Segment::flags)
                .contains(TcpCapture.ACK | ("FIN".equals(end) ? TcpCapture.FIN : TcpCapture.RST));
    }

    @Test
    void aStalledConnectionGoesOnHalfASecondLater() throws Exception {
        try (Impaired stage = new Impaired("stall=1%,seed=2", file(), false)) {
            int stalled = stage.begin(33);
            for (int i = 0; i < IwarpStage.DEPTH; i++) {
                long startNs = System.nanoTime();
                assertThat(stage.send(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
                stage.server.awaitSuccess(i);
                long tookNs = System.nanoTime() - startNs;
                assertThat(stage.wrongBits(i)).isZero();
                if (i == stalled) {
                    assertThat(tookNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
                }
            }
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
