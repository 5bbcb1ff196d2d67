// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.verbs.QueuePairType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Ping-pong over a reliable connection.
 *
 * <p>C: {@code ibv_rc_pingpong} of libibverbs.
 */
@Command(name = "ibv_rc_pingpong",
        description = "Ping-pong over a reliable connection with a C or Java ibv_rc_pingpong.")
public final class IbvRcPingpong implements Callable<Integer> {
    @Mixin
    private PingPongOptions options = new PingPongOptions();

    @Mixin
    private WarmUpOption warmUp = new WarmUpOption();

    @Mixin
    private ConnectionOptions connection = new ConnectionOptions();

    @Option(names = {"-o", "--odp"}, description = "Use on-demand paging.")
    private boolean isOnDemand;

    @Option(names = {"-P", "--prefetch"},
            description = "Ask for the pages of on-demand memory beforehand.")
    private boolean isPrefetched;

    @Option(names = {"-t", "--ts"}, description = "Take the time of completions.")
    private boolean isTimed;

    @Option(names = {"-j", "--dm"}, description = "Use device memory.")
    private boolean isDeviceMemory;

    @Option(names = {"-N", "--new_send"}, description = "Post sends piece by piece.")
    private boolean isNewSend;

    @Option(names = {"-O", "--iodp"}, hidden = true)
    private boolean isImplicitlyOnDemand;

    @Option(names = {"-U", "--allow-cc-unprotected"}, hidden = true)
    private boolean isUnprotected;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        long size = connection.size(spec, 0);
        Refusal.when(spec, isImplicitlyOnDemand,
                "-O (--iodp) is not possible: a region is a memory segment,"
                        + " and none spans the whole address space; -o works");
        Refusal.when(spec, isUnprotected,
                "-U (--allow-cc-unprotected) is not possible: a software device needs"
                        + " no memory shared with a hypervisor");
        Refusal.when(spec, isOnDemand && isDeviceMemory,
                "-o and -j: DM memory region can't be on demand");
        Refusal.when(spec, isPrefetched && !isOnDemand,
                "-P: prefetch is valid only with on-demand memory region (-o)");
        return PingPong.run(spec, options, warmUp,
                new Traffic(QueuePairType.RC, 1, false, size, connection.mtu(), features()));
    }

    private Set<Feature> features() {
        Set<Feature> features = EnumSet.noneOf(Feature.class);
        if (isOnDemand) {
            features.add(Feature.ON_DEMAND);
        }
        if (isPrefetched) {
            features.add(Feature.PREFETCH);
        }
        if (isTimed) {
            features.add(Feature.TIMESTAMPS);
        }
        if (isDeviceMemory) {
            features.add(Feature.DEVICE_MEMORY);
        }
        if (isNewSend) {
            features.add(Feature.NEW_SEND);
        }
        return features;
    }
}
