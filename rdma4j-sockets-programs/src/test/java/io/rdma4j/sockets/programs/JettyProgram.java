// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.resource.ResourceFactory;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Jetty's server, which serves a file, and its client. */
public final class JettyProgram {
    private static final int REQUESTS = 20;
    private static final int BYTES = 300_000;

    private JettyProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Files.createTempDirectory("jetty");
        byte[] bytes = SeededBytes.of(1, BYTES);
        Path file = Files.write(directory.resolve("file.bin"), bytes);
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(ResourceFactory.of(server).newResource(directory));
        server.setHandler(files);
        server.start();
        HttpClient client = new HttpClient();
        client.start();
        for (int i = 0; i < REQUESTS; i++) {
            ContentResponse response = client
                    .GET("http://127.0.0.1:" + connector.getLocalPort() + "/file.bin");
            if (response.getStatus() != 200 || !Arrays.equals(response.getContent(), bytes)) {
                throw new IllegalStateException(response.toString());
            }
        }
        System.out.println(REQUESTS + " files");
        client.stop();
        server.stop();
        Files.delete(file);
        Files.delete(directory);
    }
}
