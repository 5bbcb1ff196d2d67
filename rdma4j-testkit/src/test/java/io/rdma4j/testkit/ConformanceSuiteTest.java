package io.rdma4j.testkit;

import io.rdma4j.testkit.ConformanceReport.Outcome;
import io.rdma4j.testkit.ConformanceSuite.Entry;
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

    /** {@return how many cases a profile requires, by file} */
    private static Map<String, Integer> required(ConformanceProfile profile) {
        Map<String, Integer> counts = new TreeMap<>();
        for (Entry each : ConformanceSuite.entries()) {
            if (profile.requires(each.conformanceCase())) {
                counts.merge(each.conformanceCase().file(), 1, Integer::sum);
            }
        }
        return counts;
    }

    private static int sum(Map<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Test
    void softwareRoceMustPassWhatNeedsNoHardware() {
        Map<String, Integer> required = required(ConformanceProfile.SOFTWARE_ROCE);
        assertThat(required).containsOnly(Map.entry("test_device", 15), Map.entry("test_pd", 4),
                Map.entry("test_cq", 4), Map.entry("test_cq_events", 2),
                Map.entry("test_cqex", 4), Map.entry("test_addr", 3), Map.entry("test_mr", 18),
                Map.entry("test_qp", 19), Map.entry("test_qpex", 20),
                Map.entry("test_atomic", 7), Map.entry("test_srq", 3),
                Map.entry("test_parent_domain", 6), Map.entry("test_relaxed_ordering", 3),
                Map.entry("test_rdmacm", 11), Map.entry("test_fork", 1),
                Map.entry("rdma4j", 2), Map.entry("roce-sim", 20));
        assertThat(sum(required)).isEqualTo(122 + 20);
    }

    @Test
    void softwareIwarpMustPassWhatItsProtocolsHave() {
        Map<String, Integer> required = required(ConformanceProfile.SOFTWARE_IWARP);
        assertThat(required).containsOnly(Map.entry("test_device", 13), Map.entry("test_pd", 4),
                Map.entry("test_cq", 4), Map.entry("test_cq_events", 1),
                Map.entry("test_cqex", 3), Map.entry("test_mr", 9 + 8), Map.entry("test_qp", 7),
                Map.entry("test_qpex", 9 + 1), Map.entry("test_srq", 3),
                Map.entry("test_parent_domain", 5), Map.entry("test_relaxed_ordering", 2),
                Map.entry("test_rdmacm", 7), Map.entry("test_fork", 1), Map.entry("rdma4j", 2));
        // Nine of memory windows.
        assertThat(sum(required)).isEqualTo(70 + 9);
    }

    @Test
    void nativeDeviceMustPassWhatEveryAdapterHas() {
        Map<String, Integer> required = required(ConformanceProfile.NATIVE);
        assertThat(required).containsOnly(Map.entry("test_device", 15), Map.entry("test_pd", 4),
                Map.entry("test_cq", 3), Map.entry("test_cq_events", 2),
                Map.entry("test_addr", 2), Map.entry("test_mr", 1), Map.entry("test_qp", 12),
                Map.entry("test_qpex", 4), Map.entry("test_rdmacm", 8),
                Map.entry("test_fork", 1), Map.entry("rdma4j", 2));
        assertThat(sum(required)).isEqualTo(54);
    }

    @Test
    void nativeDeviceOfIwarpMustPassWhatEveryAdapterAndIwarpHave() {
        for (Entry entry : ConformanceSuite.entries()) {
            ConformanceCase each = entry.conformanceCase();
            assertThat(ConformanceProfile.NATIVE_IWARP.requires(each)).as(entry.test())
                    .isEqualTo(ConformanceProfile.NATIVE.requires(each)
                            && ConformanceProfile.SOFTWARE_IWARP.requires(each)
                            && !isOfAnEmptyGidEntry(each) && !isOfReset(each));
        }
        assertThat(sum(required(ConformanceProfile.NATIVE_IWARP))).isEqualTo(39);
    }

    /** {@return whether it needs more GIDs than the one that an RNIC has} */
    private static boolean isOfAnEmptyGidEntry(ConformanceCase each) {
        return each.file().equals("test_device") && each.name().equals("query_gid_ex_bad_flow");
    }

    /** {@return whether it needs the state RESET, in which the kernel leaves no queue pair of an RNIC} */
    private static boolean isOfReset(ConformanceCase each) {
        return each.name().equals("post_receive_qp_state_bad_flow");
    }

    @Test
    void tableHasALineForEachCaseAndNoOther() {
        assertThat(ConformanceProfile.cases()).containsExactlyInAnyOrderElementsOf(
                ConformanceSuite.entries().stream().map(Entry::conformanceCase)
                        .map(each -> each.file() + ' ' + each.name()).toList());
        assertThat(ConformanceSuite.entries()).hasSize(122 + 36 + 20);
    }

    @Test
    void noCaseIsThereTwice() {
        assertThat(ConformanceSuite.entries())
                .extracting(each -> each.conformanceCase().file() + ' '
                        + each.conformanceCase().name())
                .doesNotHaveDuplicates();
        assertThat(ConformanceSuite.entries()).extracting(Entry::test).doesNotHaveDuplicates();
    }

    @Test
    void reportIsCompleteWhenEveryRunHasMetTheCasesOfItsClasses() {
        ConformanceReport report = new ConformanceReport();
        assertThat(report.isComplete()).isFalse();
        report.expect(List.of(DEVICE, FAULTS));
        for (ConformanceRun run : List.of(DEVICE, FAULTS)) {
            for (Entry entry : ConformanceSuite.entries(run.classes())) {
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
        List<Entry> entries = ConformanceSuite.entries(DEVICE.classes());
        Map<String, Outcome> special = Map.of("query_device", Outcome.FAILED, "is_fork_initialized",
                Outcome.WITHOUT_EFFECT, "odp_rc_traffic", Outcome.WITHOUT_EFFECT);
        for (Entry entry : entries.reversed()) {
            ConformanceCase each = entry.conformanceCase();
            Outcome usual = DEVICE.profile().requires(each)
                    ? Outcome.PASSED
                    : Outcome.NOT_SUPPORTED;
            Outcome outcome = special.getOrDefault(each.name(), usual);
            report.add(DEVICE, entry.test(), outcome,
                    outcome == Outcome.PASSED ? "" : "maxThings is 0\nand more");
        }
        for (Entry entry : ConformanceSuite.entries(FAULTS.classes())) {
            report.add(FAULTS, entry.test(), Outcome.PASSED, "");
        }
        assertThat(report.text())
                .contains("| a device | a wire | software-roce "
                        + "| 120 of 122, 1 accepted without effect, 1 failed "
                        + "| 0 of 36, 1 accepted without effect, 35 not supported |\n"
                        + "| a device | a bad wire | software-roce | 20 of 20 | none |\n")
                .contains("\n## a device, a wire\n").contains("\n## a device, a bad wire\n")
                .contains("| test_device | query_device | required | **failed**: maxThings is 0 |")
                .contains("| test_fork | is_fork_initialized | required "
                        + "| accepted, no effect: maxThings is 0 |")
                .contains("| test_device | create_dm | optional | not supported: maxThings is 0 |"
                        + " `DeviceConformance#");
        assertThat(report.text().lines().filter(line -> line.endsWith("` |")))
                .hasSize(ConformanceSuite.entries().size());
    }

    @Test
    void testThatIsRepeatedHasTheWorstOfItsResults() {
        ConformanceReport report = new ConformanceReport();
        for (Entry entry : ConformanceSuite.entries(FAULTS.classes())) {
            report.add(FAULTS, entry.test(), Outcome.PASSED, "");
        }
        String test = ConformanceSuite.entries(FAULTS.classes()).getFirst().test();
        report.add(FAULTS, test, Outcome.FAILED, "");
        report.add(FAULTS, test, Outcome.PASSED, "");
        assertThat(report.text()).contains("| 19 of 20, 1 failed |");
    }
}
