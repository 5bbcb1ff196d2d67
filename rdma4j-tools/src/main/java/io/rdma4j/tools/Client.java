package io.rdma4j.tools;

import io.rdma4j.examples.BasicClient;
import io.rdma4j.tools.options.Hosts;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

/** The active side of the classic pair. */
@Command(name = "client", description = "Exchange a message with a server.")
final class Client implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ADDR", description = "The server's address or name.")
    private String address = "";

    @Parameters(index = "1", paramLabel = "PORT", converter = Numbers.PeerPort.class,
            description = "The server's port.")
    private int port;

    @Override
    public Integer call() throws Exception {
        BasicClient.run(new InetSocketAddress(Hosts.resolve(address), port), System.out);
        return 0;
    }
}
