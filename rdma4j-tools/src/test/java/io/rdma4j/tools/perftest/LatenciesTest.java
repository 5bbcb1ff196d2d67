// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class LatenciesTest {
    private static final double NS_PER_US = 1e3;

    private final Plan plan = new Plan(Verb.SEND, AtomicOperation.FETCH_AND_ADD, true, true,
            QueuePairType.RC, List.of(2L), true, 5, 0, 0, 1, 1, 1, 1, 1, 0, 0, 14, 0, false, false,
            false);
    private final Latencies latencies = new Latencies(new TimeWindow(plan), 2, 2);
    private final StringWriter printed = new StringWriter();
    private final TestReport report = new TestReport(new PrintWriter(printed), plan,
            new ReportOptions(BandwidthUnit.MEBIBYTES, false, false, null));

    private void record(long... roundTripsNs) {
        for (long ns : roundTripsNs) {
            latencies.record(ns);
        }
    }

    @Test
    void averageAndDeviationAreExact() {
        record(10_000_002, 10_000_004, 10_000_004, 10_000_006);
        assertThat(latencies.averageUs()).isEqualTo(5000.002, within(1e-9));
        assertThat(latencies.deviationUs()).isEqualTo(Math.sqrt(2) / 2 / NS_PER_US, within(1e-9));
    }

    @Test
    void ofNothingThereIsNoDeviation() {
        assertThat(latencies.averageUs()).isZero();
        assertThat(latencies.deviationUs()).isZero();
    }

    @Test
    void theFirstAreKeptInTheirOrder() {
        record(4000, 2000, 6000);
        List<Double> told = new ArrayList<>();
        latencies.eachInOrderUs(told::add);
        assertThat(told).containsExactly(2.0, 1.0);
    }

    @Test
    void aQuietReportPrintsNothing() throws Exception {
        record(2000, 4000);
        report.quiet(plan).print(2, latencies);
        assertThat(printed.toString()).isEmpty();
        report.print(2, latencies);
        assertThat(printed.toString()).contains(" 2 ", "1.50");
    }
}
