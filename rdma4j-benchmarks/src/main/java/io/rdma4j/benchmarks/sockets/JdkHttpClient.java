// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The JDK's client, with a thread for each connection that waits for the answer. */
final class JdkHttpClient implements HttpProgram.Client {
    @Override
    public void start(int port, int connections, HttpAnswers answers) {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port))
                .build();
        for (int i = 0; i < connections; i++) {
            Thread.ofPlatform().daemon().start(() -> ask(client, request, answers));
        }
    }

    private static void ask(HttpClient client, HttpRequest request, HttpAnswers answers) {
        try {
            while (true) {
                HttpResponse<byte[]> answer = client.send(request,
                        HttpResponse.BodyHandlers.ofByteArray());
                answers.add(answer.statusCode(), answer.body().length);
            }
        } catch (IOException | InterruptedException e) {
            answers.fail(e);
        }
    }
}
