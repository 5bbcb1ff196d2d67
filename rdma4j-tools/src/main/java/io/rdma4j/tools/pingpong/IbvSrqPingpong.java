// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.QueuePairType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Ping-pong over many reliable connections with one shared receive queue.
 *
 * <p>C: {@code ibv_srq_pingpong} of libibverbs.
 */
@Command(name = "ibv_srq_pingpong",
        description = "Ping-pong over connections with a shared receive queue.")
public final class IbvSrqPingpong implements Callable<Integer> {
    @Mixin
    private PingPongOptions options = new PingPongOptions();

    @Mixin
    private WarmUpOption warmUp = new WarmUpOption();

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Option(names = {"-q", "--num-qp"}, paramLabel = "COUNT", defaultValue = "16",
            converter = WholeNumber.class,
            description = "Queue pairs to use (default: ${DEFAULT-VALUE}).")
    private long queuePairs;

    @Option(names = {"-o", "--odp"}, description = "Use on-demand paging.")
    private boolean isOnDemand;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        long size = connection.size(spec, 1);
        WholeNumber.requireRange(spec, "-q", queuePairs, 1, Traffic.MANY - 1);
        if (queuePairs > options.receiveDepth()) {
            throw new ParameterException(spec.commandLine(),
                    "rx_depth " + options.receiveDepth() + " is too small for " + queuePairs
                            + " QPs -- must have at least one receive per QP");
        }
        return PingPong.run(spec, options, warmUp,
                new Traffic(QueuePairType.RC, (int) queuePairs, true,
                        size, connection.mtu(), isOnDemand ? Set.of(Feature.ON_DEMAND) : Set.of()));
    }
}
