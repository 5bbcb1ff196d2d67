// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.basic;

import io.rdma4j.cm.CmId;
import io.rdma4j.examples.BasicServer;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Numbers;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

/** The passive side of the classic pair. */
@Command(name = "server", description = "Wait for clients and exchange a message with each.")
public final class Server implements Callable<Integer> {
    @Option(names = "-a", paramLabel = "ADDR",
            description = "Address to listen on (default: every device's).")
    private @Nullable String address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "0", converter = Numbers.Port.class,
            description = "Port to listen on (default: any).")
    private int port;

    @Option(names = "-n", paramLabel = "COUNT", defaultValue = "0", converter = Numbers.Count.class,
            description = "End after that many connections (default: 0, run until stopped).")
    private int count;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws Exception {
        InetSocketAddress bound = address == null
                ? new InetSocketAddress(port)
                : new InetSocketAddress(Hosts.resolve(address), port);
        PrintWriter out = spec.commandLine().getOut();
        BasicServer.run(bound, count == 0 ? Integer.MAX_VALUE : count, out,
                listener -> sayWhere(listener, out));
        return 0;
    }

    private static void sayWhere(CmId listener, PrintWriter out) {
        Invitation.lines(listener.listenAddresses()).forEach(out::println);
    }
}
