// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaSocketChannel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Latency and bandwidth of writes to memory that the other side has mapped; talks to the program of that name in rdma-core.
 *
 * <p>Both sides map the memory of a transfer at offset 0 and exchange 16 bytes, first the client. The last byte of the last
 * transfer of each direction counts them; the receiver looks at it in its memory.
 */
@Command(name = "riostream", description = "Latency and bandwidth of writes to mapped memory over a"
        + " stream, with a C or Java riostream.")
public final class Riostream implements Callable<Integer> {
    @Mixin
    private StreamOptions options = new StreamOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        options.check(spec, false);
        StreamSession.run(spec, options, (channel, watch, poll) -> {
            MappedExchange exchange = new MappedExchange((RdmaSocketChannel) channel,
                    options.isClient(), options.isVerifying(), watch);
            return exchange::run;
        });
        return 0;
    }
}
