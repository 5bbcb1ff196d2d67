// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/** Requests of the JDK's client to a server, as many at a time as there are connections; answers of 1,024 bytes. */
final class HttpProgram implements SocketProgram {
    private static final int CONNECTIONS = 16;
    private static final int BYTES = 1024;

    private final Server server;

    /** What answers. */
    interface Server {
        /**
         * {@return the port where every request of a GET gets the answer, until the process ends}
         *
         * @param threads how many requests come at a time
         */
        int serve(byte[] answer, int threads) throws Exception;
    }

    HttpProgram(Server server) {
        this.server = server;
    }

    @Override
    public int serve() throws Exception {
        byte[] answer = new byte[BYTES];
        Arrays.fill(answer, (byte) 'x');
        return server.serve(answer, CONNECTIONS);
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
