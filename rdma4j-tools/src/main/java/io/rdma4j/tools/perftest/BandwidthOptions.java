// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.options.WholeNumber;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;

/** The options of the bandwidth tools. */
final class BandwidthOptions implements Measurement.Options {
    @Mixin
    private ConnectOptions peer = new ConnectOptions();

    @Mixin
    private TestOptions test = new TestOptions();

    @Option(names = {"-b", "--bidirectional"}, description = "Both sides send at the same time.")
    private boolean isBothWays;

    @Option(names = {"-t", "--tx-depth"}, paramLabel = "DEPTH", defaultValue = "128",
            converter = WholeNumber.class,
            description = "Messages under way at a time (default: ${DEFAULT-VALUE}).")
    private long sendDepth;

    @Option(names = {"-Q", "--cq-mod"}, paramLabel = "COUNT", defaultValue = "0",
            converter = WholeNumber.class,
            description = "Have every so many sends completed (default: 100; messages longer than"
                    + " 8192 bytes each).")
    private long moderation;

    @Option(names = {"-l", "--post_list"}, paramLabel = "COUNT", defaultValue = "1",
            converter = WholeNumber.class,
            description = "Post so many sends at once (default: ${DEFAULT-VALUE}).")
    private long list;

    @Option(names = {"-q", "--qp"}, paramLabel = "COUNT", defaultValue = "1",
            converter = WholeNumber.class,
            description = "Queue pairs (default: ${DEFAULT-VALUE}).")
    private long queuePairs;

    @Option(names = {"-N", "--noPeak"},
            description = "Do not look for the best stretch; it is not looked for among more than"
                    + " 20000 messages anyway.")
    private boolean isPeakOmitted;

    @Option(names = "--report_gbits",
            description = "Tell bandwidth in 10^9 bits a second, not in 2^20 bytes.")
    private boolean isInGigabits;

    @Override
    public int run(CommandSpec spec, Verb verb) throws IOException {
        peer.check(spec);
        WholeNumber.requireRange(spec, "-Q", moderation, 0, 1024);
        Depths depths = new Depths(false, WholeNumber.checked(spec, "-t", sendDepth, 1, 15000),
                (int) moderation, WholeNumber.checked(spec, "-l", list, 1, Depths.LONGEST_LIST),
                WholeNumber.checked(spec, "-q", queuePairs, 1, 16384), isBothWays,
                !isPeakOmitted);
        BandwidthUnit unit = isInGigabits ? BandwidthUnit.GIGABITS : BandwidthUnit.MEBIBYTES;
        Plan plan = test.plan(spec, verb, depths, peer.host() != null);
        peer.check(spec, plan);
        return PerfTest.run(spec, peer, plan,
                new ReportOptions(unit, false, false, peer.jsonFile()));
    }
}
