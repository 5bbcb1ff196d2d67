// SPDX-License-Identifier: Apache-2.0
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.resource.ResourceFactory;

import java.nio.file.Path;

/**
 * Jetty, which serves the files of a folder. It knows nothing of RDMA.
 *
 * <p>Run by {@code interop/run} as {@code java -cp JARS Jetty.java ADDRESS PORT FOLDER}.
 */
final class Jetty {
    private Jetty() {}

    public static void main(String[] arguments) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(arguments[0]);
        connector.setPort(Integer.parseInt(arguments[1]));
        server.addConnector(connector);
        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(ResourceFactory.of(server).newResource(Path.of(arguments[2])));
        server.setHandler(files);
        server.start();
        System.out.println("listening");
        server.join();
    }
}
