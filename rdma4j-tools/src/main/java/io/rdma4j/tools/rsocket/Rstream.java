// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Latency and bandwidth of a stream; talks to the program of that name in rdma-core.
 *
 * <p>Both sides begin each test with 16 bytes, first the client. Then the client sends all transfers of an iteration, and the
 * server as many back.
 */
@Command(name = "rstream", description = "Latency and bandwidth of a stream over RDMA, with a C or"
        + " Java rstream.")
public final class Rstream implements Callable<Integer> {
    @Mixin
    private StreamOptions options = new StreamOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        options.check(spec, true);
        StreamSession.run(spec, options, (channel, watch, poll) -> {
            StreamExchange exchange = new StreamExchange(channel, options.isClient(),
                    options.isVerifying(), watch, poll);
            return exchange::run;
        });
        return 0;
    }
}
