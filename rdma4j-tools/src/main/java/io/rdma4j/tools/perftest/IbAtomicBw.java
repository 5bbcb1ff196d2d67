package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Rate of atomic operations.
 *
 * <p>C: {@code ib_atomic_bw} of perftest.
 */
@Command(name = "ib_atomic_bw", sortOptions = false,
        description = "Rate of atomic operations, with a C or Java ib_atomic_bw.")
public final class IbAtomicBw implements Callable<Integer> {
    @Mixin
    private BandwidthOptions options = new BandwidthOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        return options.run(spec, Verb.ATOMIC);
    }
}
