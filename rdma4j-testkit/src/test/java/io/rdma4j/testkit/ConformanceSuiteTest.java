// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.testkit.ConformanceReport.Outcome;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/** The suite is whole, and so are the table of what is required and the report. */
class ConformanceSuiteTest {
    private static final ConformanceRun DEVICE = new ConformanceRun("a device", "a wire",
            ConformanceProfile.SOFTWARE_ROCE, ConformanceSuite.deviceClasses());
    private static final ConformanceRun FAULTS = new ConformanceRun("a device", "a bad wire",
            ConformanceProfile.SOFTWARE_ROCE, ConformanceSuite.faultClasses());

    /** {@return how many cases a profile requires, by class} */
    private static Map<String, Integer> required(ConformanceProfile profile) {
        Map<String, Integer> counts = new TreeMap<>();
        for (ConformanceEntry each : ConformanceSuite.entries()) {
            if (profile.requires(each.test())) {
                counts.merge(classOf(each), 1, Integer::sum);
            }
        }
        return counts;
    }

    /** {@return the class of the suite without the word that all have in common} */
    private static String classOf(ConformanceEntry entry) {
        return entry.test().substring(0, entry.test().indexOf("Conformance#"));
    }

    private static int sum(Map<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Test
    void softwareRoceMustPassWhatNeedsNoHardware() {
        Map<String, Integer> required = required(ConformanceProfile.SOFTWARE_ROCE);
        assertThat(required).containsOnly(Map.entry("Device", 15), Map.entry("ProtectionDomain", 4),
                Map.entry("CompletionQueue", 4), Map.entry("CompletionEvent", 2),
                Map.entry("ExtendedCompletionQueue", 4), Map.entry("AddressHandle", 3),
                Map.entry("MemoryRegion", 19),
                Map.entry("QueuePair", 21), Map.entry("ExtendedQueuePair", 21),
                Map.entry("Atomic", 7), Map.entry("SharedReceiveQueue", 3),
                Map.entry("ParentDomain", 6), Map.entry("RelaxedOrdering", 3),
                Map.entry("ConnectionManager", 12), Map.entry("Fork", 1),
                Map.entry("Objects", 5), Map.entry("CallOrder", 6), Map.entry("Zero", 35),
                Map.entry("Fault", 20));
        assertThat(sum(required)).isEqualTo(171 + 20);
    }

    @Test
    void softwareIwarpMustPassWhatItsProtocolsHave() {
        Map<String, Integer> required = required(ConformanceProfile.SOFTWARE_IWARP);
        assertThat(required).containsOnly(Map.entry("Device", 13), Map.entry("ProtectionDomain", 4),
                Map.entry("CompletionQueue", 4), Map.entry("CompletionEvent", 1),
                Map.entry("ExtendedCompletionQueue", 3), Map.entry("MemoryRegion", 10 + 8),
                Map.entry("QueuePair", 9),
                Map.entry("ExtendedQueuePair", 10 + 1), Map.entry("SharedReceiveQueue", 3),
                Map.entry("ParentDomain", 5), Map.entry("RelaxedOrdering", 2),
                Map.entry("ConnectionManager", 8), Map.entry("Fork", 1), Map.entry("Objects", 5),
                Map.entry("CallOrder", 3), Map.entry("Zero", 27));
        // Nine of memory windows.
        assertThat(sum(required)).isEqualTo(108 + 9);
    }

    @Test
    void nativeDeviceMustPassWhatEveryAdapterHas() {
        Map<String, Integer> required = required(ConformanceProfile.NATIVE);
        assertThat(required).containsOnly(Map.entry("Device", 15), Map.entry("ProtectionDomain", 4),
                Map.entry("CompletionQueue", 3), Map.entry("CompletionEvent", 2),
                Map.entry("AddressHandle", 2), Map.entry("MemoryRegion", 1),
                Map.entry("QueuePair", 14),
                Map.entry("ExtendedQueuePair", 4), Map.entry("ConnectionManager", 9),
                Map.entry("Fork", 1), Map.entry("Objects", 5), Map.entry("CallOrder", 6));
        assertThat(sum(required)).isEqualTo(66);
    }

    @Test
    void nativeDeviceOfIwarpMustPassWhatEveryAdapterAndIwarpHave() {
        for (ConformanceEntry entry : ConformanceSuite.entries()) {
            String each = entry.test();
            assertThat(ConformanceProfile.NATIVE_IWARP.requires(each)).as(entry.test())
                    .isEqualTo(ConformanceProfile.NATIVE.requires(each)
                            && ConformanceProfile.SOFTWARE_IWARP.requires(each)
                            && !isOfAnEmptyGidEntry(each) && !isOfReset(each)
                            && !isOfAPeerThatKeepsTheKernel(each));
        }
        assertThat(sum(required(ConformanceProfile.NATIVE_IWARP))).isEqualTo(46);
    }

    /** {@return whether it needs more GIDs than the one that an RNIC has} */
    private static boolean isOfAnEmptyGidEntry(String each) {
        return each.equals("DeviceConformance#emptyGidEntryIsRefused");
    }

    /** {@return whether siw may not return from closing what it has opened} */
    private static boolean isOfAPeerThatKeepsTheKernel(String each) {
        return each.matches(".*#idOfConnectionsAnswersEachCallWh(ileItIsConnected|enItIsAnswered)");
    }

    /** {@return whether it needs the state RESET, in which the kernel leaves no queue pair of an RNIC} */
    private static boolean isOfReset(String each) {
        return each.equals("ExtendedQueuePairConformance#receiveInResetIsRefused");
    }

    @Test
    void tableHasALineForEachCaseAndNoOther() {
        assertThat(ConformanceProfile.cases()).containsExactlyInAnyOrderElementsOf(
                ConformanceSuite.entries().stream().map(ConformanceEntry::test).toList());
        assertThat(ConformanceSuite.entries()).hasSize(171 + 38 + 20);
    }

    @Test
    void noCaseIsThereTwice() {
        assertThat(ConformanceSuite.entries()).extracting(ConformanceEntry::after)
                .filteredOn(each -> !each.isEmpty()).hasSizeGreaterThan(170)
                .doesNotHaveDuplicates();
        assertThat(ConformanceSuite.entries()).extracting(ConformanceEntry::test)
                .doesNotHaveDuplicates();
    }

    @Test
    void reportIsCompleteWhenEveryRunHasMetTheCasesOfItsClasses() {
        ConformanceReport report = new ConformanceReport();
        assertThat(report.isComplete()).isFalse();
        report.expect(List.of(DEVICE, FAULTS));
        for (ConformanceRun run : List.of(DEVICE, FAULTS)) {
            for (ConformanceEntry entry : ConformanceEntry.of(run.classes())) {
                assertThat(report.isComplete()).isFalse();
                report.add(run, entry.test(), Outcome.PASSED, "");
            }
        }
        assertThat(report.isComplete()).isTrue();
    }

    @Test
    void eachRunHasItsOwnRowAndTable() {
        ConformanceReport report = new ConformanceReport();
        report.expect(List.of(DEVICE, FAULTS));
        List<ConformanceEntry> entries = ConformanceEntry.of(DEVICE.classes());
        Map<String, Outcome> special = Map.of("test_device.query_device", Outcome.FAILED,
                "test_fork.is_fork_initialized", Outcome.WITHOUT_EFFECT, "test_odp.odp_rc_traffic",
                Outcome.WITHOUT_EFFECT);
        for (ConformanceEntry entry : entries.reversed()) {
            Outcome usual = DEVICE.profile().requires(entry.test())
                    ? Outcome.PASSED
                    : Outcome.NOT_SUPPORTED;
            Outcome outcome = special.getOrDefault(entry.after(), usual);
            report.add(DEVICE, entry.test(), outcome,
                    outcome == Outcome.PASSED ? "" : "maxThings is 0\nand more");
        }
        for (ConformanceEntry entry : ConformanceEntry.of(FAULTS.classes())) {
            report.add(FAULTS, entry.test(), Outcome.PASSED, "");
        }
        assertThat(report.text())
                .contains("| a device | a wire | software-roce "
                        + "| 169 of 171, 1 accepted without effect, 1 failed "
                        + "| 0 of 38, 1 accepted without effect, 37 not supported |\n"
                        + "| a device | a bad wire | software-roce | 20 of 20 | none |\n")
                .contains("\n## a device, a wire\n").contains("\n## a device, a bad wire\n")
                .contains("| `DeviceConformance#attributesNameTheDeviceAndItsLimits` | required "
                        + "| **failed**: maxThings is 0 |")
                .contains("| `ForkConformance#registeredMemorySurvivesChildProcesses` | required "
                        + "| accepted, no effect: maxThings is 0 |")
                .contains("| `DeviceConformance#deviceMemoryOfManySizesCanBeAllocated` | optional "
                        + "| not supported: maxThings is 0 |");
        assertThat(report.text().lines().filter(line -> line.startsWith("| `")))
                .hasSize(ConformanceSuite.entries().size());
    }

    @Test
    void testThatIsRepeatedHasTheWorstOfItsResults() {
        ConformanceReport report = new ConformanceReport();
        for (ConformanceEntry entry : ConformanceEntry.of(FAULTS.classes())) {
            report.add(FAULTS, entry.test(), Outcome.PASSED, "");
        }
        String test = ConformanceEntry.of(FAULTS.classes()).getFirst().test();
        report.add(FAULTS, test, Outcome.FAILED, "");
        report.add(FAULTS, test, Outcome.PASSED, "");
        assertThat(report.text()).contains("| 19 of 20, 1 failed |");
    }
}
