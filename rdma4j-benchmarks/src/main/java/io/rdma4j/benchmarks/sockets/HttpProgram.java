// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/** Requests of the JDK's client to the JDK's server, as many at a time as there are connections; answers of 1,024 bytes. */
final class HttpProgram implements SocketProgram {
    private static final int CONNECTIONS = 16;
    private static final int BYTES = 1024;

    @Override
    public int serve() throws IOException {
        HttpServer server = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(CONNECTIONS));
        byte[] answer = new byte[BYTES];
        Arrays.fill(answer, (byte) 'x');
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, BYTES);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer);
            }
        });
        server.start();
        return server.getAddress().getPort();
    }

    @Override
    public double drive(int port, Stretch stretch) throws Exception {
        LongAdder answers = new LongAdder();
        CompletableFuture<Double> failure = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(CONNECTIONS);
        try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                .build()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port))
                    .build();
            for (int i = 0; i < CONNECTIONS; i++) {
                Thread.ofPlatform().daemon().start(() -> {
                    try {
                        while (true) {
                            byte[] body = client
                                    .send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
                            if (body.length != BYTES) {
                                throw new IOException("an answer of " + body.length + " bytes");
                            }
                            answers.increment();
                            begun.countDown();
                        }
                    } catch (IOException | InterruptedException e) {
                        failure.completeExceptionally(e);
                        begun.countDown();
                    }
                });
            }
            begun.await();
            Thread.sleep(stretch.warmUpNs() / 1_000_000);
            long before = answers.sum();
            long startNs = System.nanoTime();
            Thread.sleep(stretch.measureNs() / 1_000_000);
            double rate = (answers.sum() - before) * 1e9 / (System.nanoTime() - startNs);
            failure.getNow(0.0);
            client.shutdownNow();
            return rate;
        }
    }
}
