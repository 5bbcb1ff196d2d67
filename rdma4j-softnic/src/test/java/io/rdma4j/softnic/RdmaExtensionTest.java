// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;
import io.rdma4j.testkit.junit.ConnectedIds;
import io.rdma4j.testkit.junit.RdmaTest;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.SendFlag;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** The JUnit extension of the testkit: tests that it must help, and some that it must fail. */
class RdmaExtensionTest {
    /** What is left open on purpose; closed by the test that runs the test which leaves it. */
    private static @Nullable AutoCloseable left;

    @TempDir
    private Path recordings;

    @RdmaTest(impairment = "loss=5%,seed=7")
    static final class Helped {
        @Test
        void idsExchangeMessagesThoughPacketsAreLost(ConnectedIds ids, DeviceContext device,
                Arena arena) throws Exception {
            MemorySegment memory = arena.allocate(2048);
            try (MemoryRegion ofClient = ids.client().registerMessages(memory.asSlice(0, 1024));
                    MemoryRegion ofServer = ids.server()
                            .registerMessages(memory.asSlice(1024))) {
                for (int round = 0; round < 200; round++) {
                    memory.set(ValueLayout.JAVA_INT, 0, round);
                    ids.server().postReceive(round, ofServer, 0, 1024);
                    ids.client().postSend(round, ofClient, 0, 1024, SendFlag.SIGNALED);
                    assertThat(ids.server().awaitReceiveCompletion().isSuccess()).isTrue();
                    assertThat(ids.client().awaitSendCompletion().isSuccess()).isTrue();
                    assertThat(memory.get(ValueLayout.JAVA_INT, 1024))
                            .isEqualTo(round);
                }
            }
            assertThat(device.counters().get("retransmitted_pkts")).isPositive();
        }

        @Test
        void oneDeviceIsGiven(RdmaDevice device, DeviceContext first, DeviceContext second,
                InetSocketAddress address) {
            assertThat(device.name()).startsWith("roce_");
            assertThat(first).isSameAs(second);
            assertThat(first.device().name()).isEqualTo(device.name());
            assertThat(address.getAddress().isLoopbackAddress()).isTrue();
            assertThat(address.getPort()).isZero();
            assertThat(System.getProperty("rdma4j.impair")).isEqualTo("loss=5%,seed=7");
        }

        @Test
        @RdmaTest(device = "iwarp")
        void methodChoosesAnotherDevice(ConnectedIds ids) {
            assertThat(ids.client().context().device().name()).startsWith("iwarp_");
            assertThat(System.getProperty("rdma4j.impair")).isNull();
        }
    }

    @RdmaTest
    static final class Leaving {
        @Test
        void objectOfTheContext(DeviceContext context) throws Exception {
            assertThat(context.createCompletionQueue(4).capacity()).isPositive();
        }

        @Test
        void contextOfItsOwn(RdmaDevice device) throws Exception {
            left = device.open();
        }

        @Test
        void regionOfAnId(ConnectedIds ids) throws Exception {
            left = ids.client().registerMessages(Arena.ofAuto().allocate(64));
        }
    }

    @RdmaTest(record = true)
    static final class Recorded {
        @Test
        void failed(ConnectedIds ids) {
            assertThat(ids.client().queuePair().number()).isNegative();
        }

        @Test
        void passed(ConnectedIds ids) {
            assertThat(ids.client().queuePair().number()).isPositive();
        }
    }

    private static final class Results implements TestExecutionListener {
        final Map<String, TestExecutionResult> results = new HashMap<>();
        final Map<String, ReportEntry> entries = new HashMap<>();

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            results.put(name(test), result);
        }

        @Override
        public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
            entries.put(name(test), entry);
        }

        private static String name(TestIdentifier test) {
            return test.getDisplayName().replaceAll("\\(.*", "");
        }

        TestExecutionResult of(String test) {
            return Objects.requireNonNull(results.get(test));
        }

        String failure(String test) {
            return String.valueOf(of(test).getThrowable().orElseThrow().getMessage());
        }
    }

    private Results run(Class<?> tests) {
        Results results = new Results();
        LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(tests))
                .configurationParameter("rdma4j.recordings", recordings.toString()).build(),
                results);
        return results;
    }

    private static void closeWhatWasLeft() throws Exception {
        Objects.requireNonNull(left).close();
        left = null;
        // The device of ids is closed by a thread of its own.
        Wait.until("no device is open", () -> System.getProperty("rdma4j.devices") == null);
    }

    @Test
    void testsAreGivenDevicesConnectionsAndLoss() {
        assertThat(run(Helped.class).results).hasSizeGreaterThan(3).allSatisfy(
                (test, result) -> assertThat(result.getThrowable()).as(test).isEmpty());
        assertThat(System.getProperty("rdma4j.impair")).isNull();
        assertThat(System.getProperty("rdma4j.devices")).isNull();
    }

    @Test
    void whatATestLeavesOpenFailsIt() throws Exception {
        Results results = new Results();
        for (String test : new String[]{"objectOfTheContext", "contextOfItsOwn",
            "regionOfAnId"}) {
            LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request()
                    .selectors(DiscoverySelectors.selectMethod(Leaving.class, test,
                            test.equals("objectOfTheContext") ? DeviceContext.class.getName()
                                    : test.equals("contextOfItsOwn") ? RdmaDevice.class.getName()
                                            : ConnectedIds.class.getName()))
                    .build(), results);
            if (left != null) {
                closeWhatWasLeft();
            }
        }
        assertThat(results.failure("objectOfTheContext")).contains("left open: roce_",
                "1 completion queue(s)");
        assertThat(results.failure("contextOfItsOwn")).contains("left open: roce_", "a context");
        assertThat(results.failure("regionOfAnId")).contains("left open: roce_", "a region");
        assertThat(System.getProperty("rdma4j.devices")).isNull();
    }

    @Test
    void recordingOfATestThatFailedIsKeptAndReported() throws Exception {
        Results results = run(Recorded.class);
        assertThat(results.of("failed").getStatus())
                .isEqualTo(TestExecutionResult.Status.FAILED);
        assertThat(results.of("passed").getThrowable()).isEmpty();
        String kept = Objects.requireNonNull(results.entries.get("failed")).getKeyValuePairs()
                .get("rdma4j.recording");
        assertThat(Path.of(Objects.requireNonNull(kept))).isNotEmptyFile();
        try (var files = Files.list(recordings)) {
            assertThat(files).containsExactly(Path.of(kept));
        }
    }

    @Test
    void deviceThatWasOpenBeforeCannotBeImpaired() throws Exception {
        try (DeviceContext open = RdmaDevices.find("roce_lo").open()) {
            Results results = run(Recorded.class);
            assertThat(results.failure("passed")).contains(open.device().name(),
                    "opened before the test");
        }
    }
}
