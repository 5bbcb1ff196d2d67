// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Both clients count what a server answers, and take no wrong answer for a right one. */
@Timeout(30)
class HttpProgramTest {
    private static final int BYTES = 1024;

    private HttpServer server;
    private int status = 200;
    private int length = BYTES;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(status, length);
            try (var body = exchange.getResponseBody()) {
                body.write(new byte[length]);
            }
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    static Stream<HttpProgram.Client> clients() {
        return Stream.of(new SelectorHttpClient(), new JdkHttpClient());
    }

    @ParameterizedTest
    @MethodSource("clients")
    void answersAreCounted(HttpProgram.Client client) throws Exception {
        HttpAnswers answers = new HttpAnswers(BYTES);
        client.start(server.getAddress().getPort(), 2, answers);
        answers.awaitFirst();
        while (answers.count() < 10) {
            Thread.onSpinWait();
        }
        answers.requireNoFailure();
    }

    @ParameterizedTest
    @MethodSource("clients")
    void shorterAnswerIsAFailure(HttpProgram.Client client) throws Exception {
        length = BYTES - 1;
        HttpAnswers answers = new HttpAnswers(BYTES);
        client.start(server.getAddress().getPort(), 1, answers);
        assertThatThrownBy(answers::awaitFirst).isInstanceOf(CompletionException.class)
                .hasRootCauseMessage(
                        "HTTP/1.1 200 with 1023 bytes instead of 200 with 1024");
        assertThat(answers.count()).isZero();
    }

    @ParameterizedTest
    @MethodSource("clients")
    void otherStatusIsAFailure(HttpProgram.Client client) throws Exception {
        status = 404;
        HttpAnswers answers = new HttpAnswers(BYTES);
        client.start(server.getAddress().getPort(), 1, answers);
        assertThatThrownBy(answers::awaitFirst).hasRootCauseMessage(
                "HTTP/1.1 404 with 1024 bytes instead of 200 with 1024");
    }

    @Test
    void endOfAConnectionIsAFailure() throws Exception {
        HttpAnswers answers = new HttpAnswers(BYTES);
        new SelectorHttpClient().start(server.getAddress().getPort(), 2, answers);
        answers.awaitFirst();
        server.stop(0);
        assertThatThrownBy(() -> {
            while (true) {
                answers.requireNoFailure();
                Thread.onSpinWait();
            }
        }).isInstanceOf(CompletionException.class);
    }
}
