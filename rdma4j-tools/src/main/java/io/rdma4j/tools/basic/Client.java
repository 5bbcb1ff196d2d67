// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.basic;

import io.rdma4j.examples.BasicClient;
import io.rdma4j.tools.endpoint.Establishment;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Numbers;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

/** The active side of the classic pair. */
@Command(name = "client", description = "Exchange a message with a server.")
public final class Client implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ADDR", description = "The server's address or name.")
    private String address = "";

    @Parameters(index = "1", paramLabel = "PORT", converter = Numbers.PeerPort.class,
            description = "The server's port.")
    private int port;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws Exception {
        InetSocketAddress server = new InetSocketAddress(Hosts.resolve(address), port);
        return Establishment.of(reached -> {
            BasicClient.run(server, spec.commandLine().getOut(), reached);
            return 0;
        });
    }
}
