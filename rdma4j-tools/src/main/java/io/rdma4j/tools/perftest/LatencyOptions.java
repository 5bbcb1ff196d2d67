// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;

/** The options of the latency tools. */
final class LatencyOptions implements Measurement.Options {
    @Mixin
    private ConnectOptions peer = new ConnectOptions();

    @Mixin
    private TestOptions test = new TestOptions();

    @Option(names = {"-H", "--report-histogram"}, description = "Print all times, sorted.")
    private boolean isSorted;

    @Option(names = {"-U", "--report-unsorted"}, description = "Print all times in their order.")
    private boolean isUnsorted;

    @Override
    public int run(CommandSpec spec, Verb verb) throws IOException {
        peer.check(spec);
        Plan plan = test.plan(spec, verb, Depths.LATENCY, peer.host() != null);
        peer.check(spec, plan);
        return PerfTest.run(spec, peer, plan,
                new ReportOptions(BandwidthUnit.MEBIBYTES, isSorted, isUnsorted,
                        peer.jsonFile()));
    }
}
