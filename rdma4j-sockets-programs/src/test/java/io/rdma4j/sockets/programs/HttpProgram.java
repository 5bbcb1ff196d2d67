// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import javax.net.ssl.SSLContext;

/** The JDK's server and client of HTTP in one process, without TLS and with it; it knows nothing of RDMA. */
public final class HttpProgram {
    private static final int REQUESTS = 64;
    private static final int BYTES = 100_000;

    private HttpProgram() {}

    /** @param arguments {@code virtual} or {@code platform}: the threads of both sides */
    public static void main(String[] arguments) throws Exception {
        boolean isVirtual = arguments[0].equals("virtual");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        SSLContext tls = TestCertificate.make().context();
        HttpsServer secure = HttpsServer.create(any, 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(tls));
        serve(HttpServer.create(any, 0), "http", tls, isVirtual);
        serve(secure, "https", tls, isVirtual);
    }

    private static void serve(HttpServer server, String scheme, SSLContext tls, boolean isVirtual) {
        // Handlers that wait for a body must not keep the client from sending it.
        try (ExecutorService ofServer = threads(isVirtual);
                ExecutorService ofClient = threads(isVirtual)) {
            server.setExecutor(ofServer);
            server.createContext("/", HttpProgram::answer);
            server.start();
            try (HttpClient client = HttpClient.newBuilder().executor(ofClient).sslContext(tls)
                    .version(HttpClient.Version.HTTP_1_1).build()) {
                run(client, scheme, server.getAddress().getPort());
            } finally {
                server.stop(0);
            }
        }
    }

    private static ExecutorService threads(boolean areVirtual) {
        return areVirtual
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Executors.newFixedThreadPool(4);
    }

    private static void run(HttpClient client, String scheme, int port) {
        List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            HttpRequest request = HttpRequest.newBuilder(
                    URI.create(scheme + "://127.0.0.1:" + port + "/" + i))
                    .POST(HttpRequest.BodyPublishers.ofByteArray(SeededBytes.of(i, BYTES))).build();
            answers.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray()));
        }
        for (int i = 0; i < REQUESTS; i++) {
            byte[] body = answers.get(i).join().body();
            byte[] expected = SeededBytes.of(i, BYTES);
            expected[BYTES - 1] = (byte) i;
            if (!Arrays.equals(body, expected)) {
                throw new IllegalStateException("answer " + i + " is wrong");
            }
        }
        System.out.println(REQUESTS + " answers by " + scheme);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String number = exchange.getRequestURI().getPath().substring(1);
            body[body.length - 1] = Byte.parseByte(number);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
