package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Bandwidth of RDMA READ.
 *
 * <p>C: {@code ib_read_bw} of perftest.
 */
@Command(name = "ib_read_bw", sortOptions = false,
        description = "Bandwidth of RDMA READ, with a C or Java ib_read_bw.")
public final class IbReadBw implements Callable<Integer> {
    @Mixin
    private BandwidthOptions options = new BandwidthOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        return options.run(spec, Verb.READ);
    }
}
