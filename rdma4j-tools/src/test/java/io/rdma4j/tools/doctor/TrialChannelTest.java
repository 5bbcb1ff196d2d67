// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What two doctors say to each other, and what comes of peers that are none. */
class TrialChannelTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Socket peer;
    private final TrialChannel channel;

    TrialChannelTest() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            peer = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
            channel = new TrialChannel(listener.accept(), new Deadline(LONG));
        }
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        channel.close();
    }

    private void say(String text) throws IOException {
        peer.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void answerIsTakenApart() throws IOException {
        say("listening 18515\nreceived\n");
        assertThat(channel.answer("listening", 2, LONG)).containsExactly("listening", "18515");
        assertThat(channel.answer("received", 1, LONG)).containsExactly("received");
    }

    @Test
    void refusalIsToldInTheWordsOfThePeer() throws IOException {
        say("refused the port is in use (EADDRINUSE)\n");
        assertThatThrownBy(() -> channel.answer("listening", 2, LONG))
                .hasMessage("the other side: the port is in use (EADDRINUSE)");
    }

    @Test
    void otherWordsAreNoAnswer() throws IOException {
        say("HTTP/1.1 400 Bad Request\n");
        assertThatThrownBy(() -> channel.answer("doctor", 2, LONG))
                .hasMessageContaining("does not speak as a doctor");
    }

    @Test
    void lineWithoutAnEndIsNotKept() throws IOException {
        say("x".repeat(5000));
        assertThatThrownBy(() -> channel.receive(LONG))
                .hasMessageContaining("does not speak as a doctor");
    }

    @Test
    void silenceEnds() {
        assertThatThrownBy(() -> channel.receive(Duration.ofMillis(50)))
                .hasMessageContaining("says nothing more");
    }

    @Test
    void peerThatHangsUpIsToldSo() throws IOException {
        peer.close();
        assertThatThrownBy(() -> channel.receive(LONG)).hasMessageContaining("hung up");
    }

    @Test
    void toldLineIsOneLine() throws IOException {
        channel.send("refused one\ntwo  three");
        assertThat(new String(peer.getInputStream().readNBytes(22), StandardCharsets.UTF_8))
                .isEqualTo("refused one two three\n");
    }
}
