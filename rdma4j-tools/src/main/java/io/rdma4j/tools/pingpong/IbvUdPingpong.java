// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Ping-pong by datagrams; a lost message ends it.
 *
 * <p>C: {@code ibv_ud_pingpong} of libibverbs.
 */
@Command(name = "ibv_ud_pingpong",
        description = "Ping-pong by datagrams with a C or Java ibv_ud_pingpong.")
public final class IbvUdPingpong implements Callable<Integer> {
    @Mixin
    private PingPongOptions options = new PingPongOptions();

    @Mixin
    private WarmUpOption warmUp = new WarmUpOption();

    @Option(names = {"-s", "--size"}, paramLabel = "SIZE", defaultValue = "1024",
            converter = WholeNumber.class,
            description = "Bytes of a message (default: ${DEFAULT-VALUE}).")
    private long size;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        WholeNumber.requireRange(spec, "-s", size, 0, Traffic.LONGEST);
        return PingPong.run(spec, options, warmUp,
                new Traffic(QueuePairType.UD, 1, false, size, Mtu.MTU_4096, Set.of()));
    }
}
