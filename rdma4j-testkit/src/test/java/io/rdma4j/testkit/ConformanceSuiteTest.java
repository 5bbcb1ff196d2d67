package io.rdma4j.testkit;

import io.rdma4j.testkit.ConformanceCase.Kind;
import io.rdma4j.testkit.ConformanceReport.Outcome;
import io.rdma4j.testkit.ConformanceSuite.Entry;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/** The suite is whole, and so is its report. */
class ConformanceSuiteTest {
    /** Required cases by file. */
    private static final Map<String, Integer> REQUIRED = Map.ofEntries(
            Map.entry("test_device", 15), Map.entry("test_pd", 4), Map.entry("test_cq", 4),
            Map.entry("test_cq_events", 2), Map.entry("test_cqex", 4), Map.entry("test_addr", 3),
            Map.entry("test_mr", 18), Map.entry("test_qp", 19), Map.entry("test_qpex", 20),
            Map.entry("test_atomic", 7), Map.entry("test_srq", 3),
            Map.entry("test_parent_domain", 6), Map.entry("test_relaxed_ordering", 3),
            Map.entry("test_rdmacm", 11), Map.entry("test_fork", 1));

    private static List<ConformanceCase> cases(Kind kind) {
        return ConformanceSuite.entries().stream().map(Entry::conformanceCase)
                .filter(each -> each.kind() == kind).toList();
    }

    @Test
    void suiteHasEveryRequiredCaseOfEveryFile() {
        Map<String, Integer> counts = new TreeMap<>();
        for (ConformanceCase each : cases(Kind.REQUIRED)) {
            counts.merge(each.file(), 1, Integer::sum);
        }
        assertThat(counts).isEqualTo(REQUIRED);
        assertThat(cases(Kind.REQUIRED)).hasSize(120);
    }

    @Test
    void suiteHasTheOptionalCasesAndTheFaults() {
        assertThat(cases(Kind.OPTIONAL)).hasSize(36);
        assertThat(cases(Kind.FAULT)).hasSize(20);
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
    void reportIsCompleteWhenEveryDeviceHasMetEveryCase() {
        ConformanceReport report = new ConformanceReport();
        assertThat(report.isComplete()).isFalse();
        List<Entry> entries = ConformanceSuite.entries();
        for (Entry entry : entries) {
            assertThat(report.isComplete()).isFalse();
            report.add("one", entry.test(), Outcome.PASSED, "");
        }
        assertThat(report.isComplete()).isTrue();
        report.add("another", entries.getFirst().test(), Outcome.PASSED, "");
        assertThat(report.isComplete()).isFalse();
    }

    @Test
    void reportCountsAndNamesEveryResult() {
        ConformanceReport report = new ConformanceReport();
        List<Entry> entries = ConformanceSuite.entries();
        for (Entry entry : entries.reversed()) {
            boolean isOptional = entry.conformanceCase().kind() == Kind.OPTIONAL;
            report.add("a device", entry.test(),
                    isOptional ? Outcome.NOT_SUPPORTED : Outcome.PASSED,
                    isOptional ? "maxThings is 0" : "");
        }
        String test = entries.stream()
                .filter(each -> each.conformanceCase().kind() == Kind.REQUIRED).findFirst()
                .orElseThrow().test();
        report.add("a device", test, Outcome.FAILED, "");
        assertThat(report.text())
                .contains("| a device | 119 of 120, 1 failed | 0 of 36, 36 not supported "
                        + "| 20 of 20 |")
                .contains("| **failed** | `" + test + "` |")
                .contains("| test_device | create_dm | optional | not supported: maxThings is 0 |"
                        + " `DeviceConformance#");
        assertThat(report.text().lines().filter(line -> line.endsWith("` |")))
                .hasSize(entries.size());
    }
}
