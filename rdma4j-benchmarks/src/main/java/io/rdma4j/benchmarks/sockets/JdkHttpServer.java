// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The JDK's server, with a thread for each request. */
final class JdkHttpServer implements HttpProgram.Server {
    @Override
    public int serve(byte[] answer, int threads) throws IOException {
        HttpServer server = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(threads));
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, answer.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer);
            }
        });
        server.start();
        return server.getAddress().getPort();
    }
}
