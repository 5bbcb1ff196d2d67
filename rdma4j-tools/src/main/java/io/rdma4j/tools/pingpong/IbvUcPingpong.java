package io.rdma4j.tools.pingpong;

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
 * Ping-pong over an unreliable connection; a lost message ends it.
 *
 * <p>C: {@code ibv_uc_pingpong} of libibverbs.
 */
@Command(name = "ibv_uc_pingpong",
        description = "Ping-pong over an unreliable connection with a C or Java ibv_uc_pingpong.")
public final class IbvUcPingpong implements Callable<Integer> {
    @Mixin
    private PingPongOptions options = new PingPongOptions();

    @Option(names = {"-s", "--size"}, paramLabel = "SIZE", defaultValue = "4096",
            converter = WholeNumber.class,
            description = "Bytes of a message (default: ${DEFAULT-VALUE}).")
    private long size;

    @Option(names = {"-m", "--mtu"}, paramLabel = "SIZE", defaultValue = "1024",
            converter = MtuBytes.class, description = "Path MTU (default: ${DEFAULT-VALUE}).")
    private Mtu mtu = Mtu.MTU_1024;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        PingPongOptions.requireRange(spec, "-s", size, 0, Traffic.LONGEST);
        return PingPong.run(spec, options,
                new Traffic(QueuePairType.UC, 1, false, size, mtu, Set.of()));
    }
}
