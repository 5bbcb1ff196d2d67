package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Bandwidth of SEND.
 *
 * <p>C: {@code ib_send_bw} of perftest.
 */
@Command(name = "ib_send_bw", sortOptions = false,
        description = "Bandwidth of SEND, with a C or Java ib_send_bw.")
public final class IbSendBw implements Callable<Integer> {
    @Mixin
    private BandwidthOptions options = new BandwidthOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        return options.run(spec, Verb.SEND);
    }
}
