// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.verbs.QueuePairType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Ping-pong over an unreliable connection; a lost message ends it.
 *
 * <p>C: {@code ibv_uc_pingpong} of libibverbs.
 */
@Command(name = "ibv_uc_pingpong",
        description = "Ping-pong over an unreliable connection with a C or Java ibv_uc_pingpong.")
public final class IbvUcPingpong implements Callable<Integer> {
    @Mixin
    private PingPongOptions options = new PingPongOptions();

    @Mixin
    private WarmUpOption warmUp = new WarmUpOption();

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        long size = connection.size(spec, 0);
        return PingPong.run(spec, options, warmUp,
                new Traffic(QueuePairType.UC, 1, false, size, connection.mtu(), Set.of()));
    }
}
