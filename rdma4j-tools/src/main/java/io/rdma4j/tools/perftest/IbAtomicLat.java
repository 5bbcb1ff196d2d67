package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Latency of atomic operations.
 *
 * <p>C: {@code ib_atomic_lat} of perftest.
 */
@Command(name = "ib_atomic_lat", sortOptions = false,
        description = "Latency of atomic operations, with a C or Java ib_atomic_lat.")
public final class IbAtomicLat implements Callable<Integer> {
    @Mixin
    private LatencyOptions options = new LatencyOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        return options.run(spec, Verb.ATOMIC);
    }
}
