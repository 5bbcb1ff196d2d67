package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What each event does to a connection in each state of its set-up: which event its application gets, or which error the
 * call has, and what its peer sees: that the stream {@code stays}, that it {@code ends}, or a frame, before its end.
 * {@code -} is nothing. The peer is a plain socket.
 */
class SetUpTableTest extends IwarpStage {
    private static final int PATIENCE_MS = 10_000;
    /** As long as nothing may come. */
    private static final int SHORT_MS = 60;
    /** A unit of 32 bytes whose header is wrong, and no frame, nor the rest of one. */
    private static final byte[] NONSENSE = ("\0 " + "\177".repeat(62))
            .getBytes(StandardCharsets.US_ASCII);

    private @Nullable ServerSocket peerListener;
    private @Nullable Socket peer;
    private Side side = server;
    private int known;

    SetUpTableTest() throws Exception {}

    @AfterEach
    void closePeer() throws IOException {
        if (peer != null) {
            peer.close();
        }
        if (peerListener != null) {
            peerListener.close();
        }
    }

    private Socket peer() {
        return Objects.requireNonNull(peer);
    }

    // ---------------------------------------------------------------- states

    private void bringTo(String state) throws Exception {
        switch (state) {
            case "CONNECTED" -> peer = new Socket(ADDRESS, listen());
            case "HALF_ASKED" -> {
                peer = new Socket(ADDRESS, listen());
                peer().getOutputStream().write(request(), 0, 17);
            }
            case "ASKED" -> beAsked();
            case "ACCEPTED" -> beAccepted();
            case "ESTABLISHED" -> {
                beAccepted();
                // A WRITE of no bytes.
                peer().getOutputStream().write(new byte[]{0, 14, (byte) 0xc1, 0x40, 0, 0, 0, 0, 0,
                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
                server.awaitWord("established");
            }
            case "ASKING" -> askPeer();
            case "HALF_ANSWERED" -> {
                askPeer();
                peer().getOutputStream().write(reply(0), 0, 17);
            }
            case "ANSWERED" -> {
                askPeer();
                peer().getOutputStream().write(reply(0));
                client.awaitWord("established");
            }
            default -> throw new IllegalArgumentException(state);
        }
        known = side.heard.size();
    }

    private static byte[] request() {
        return FIRST_BY_WRITE.bytes();
    }

    private static byte[] reply(int flags) {
        return new MpaFrame(true, MpaFrame.ENHANCED | flags, MpaFrame.ENHANCED_REVISION,
                4 | MpaFrame.PEER_TO_PEER, 4 | MpaFrame.WRITE_RTR, new byte[0]).bytes();
    }

    private void beAsked() throws Exception {
        peer = new Socket(ADDRESS, listen());
        peer().getOutputStream().write(request());
        server.awaitWord("request");
    }

    private void beAccepted() throws Exception {
        beAsked();
        server.connected().accept(new ConnectionParameters(), server.queuePair.number());
        assertThat(peer().getInputStream().readNBytes(24)).hasSize(24);
    }

    private void askPeer() throws Exception {
        side = client;
        peerListener = new ServerSocket(0, 1, ADDRESS);
        ask(peerListener.getLocalPort());
        peer = peerListener.accept();
        assertThat(peer().getInputStream().readNBytes(24 + 5)).hasSize(24 + 5);
    }

    // ---------------------------------------------------------------- events

    private String befalls(String event) throws Exception {
        try {
            switch (event) {
                case "overhasty" -> {
                    byte[] both = Arrays.copyOf(request(), request().length + 20);
                    peer().getOutputStream().write(both);
                }
                case "nonsense" -> peer().getOutputStream().write(NONSENSE);
                case "end" -> peer().shutdownOutput();
                case "reset" -> {
                    peer().setSoLinger(true, 0);
                    peer().close();
                }
                case "reply" -> peer().getOutputStream().write(reply(0));
                case "rejection" -> peer().getOutputStream().write(reply(MpaFrame.REJECT));
                case "accept" -> connection().accept(new ConnectionParameters(),
                        side.queuePair.number());
                case "reject" -> connection().reject(Refusal.Cause.APPLICATION, new byte[0]);
                case "disconnect" -> connection().disconnect();
                case "close" -> connection().close();
                case "listener closed" -> Objects.requireNonNull(listener).close();
                default -> throw new IllegalArgumentException(event);
            }
            return "";
        } catch (RdmaException e) {
            return e.errno().toString();
        }
    }

    private CmConnection connection() {
        return side.connected();
    }

    private void awaitWords(int words) throws Exception {
        Wait.until(words + " words beyond " + known + " in " + side.heard,
                () -> side.heard.size() >= known + words);
    }

    /** @param isEnd whether it is expected to end, which may take its time on a busy machine */
    private String seen(boolean isEnd) throws IOException {
        if (peer().isClosed()) {
            return "-";
        }
        byte[] bytes = new byte[200];
        int length = 0;
        try {
            peer().setSoTimeout(isEnd ? PATIENCE_MS : SHORT_MS);
            int more = 0;
            while (more >= 0) {
                length += more;
                more = peer().getInputStream().read(bytes, length, bytes.length - length);
            }
        } catch (SocketTimeoutException stays) {
            return "stays";
        } catch (IOException reset) {
            return told(bytes, length) + "ends";
        }
        return told(bytes, length) + "ends";
    }

    private static String told(byte[] bytes, int length) {
        List<String> words = new ArrayList<>();
        boolean isFrame = length >= 20 && bytes[0] == 'M';
        if (isFrame) {
            words.add((bytes[16] & MpaFrame.REJECT) == 0 ? "acceptance" : "rejection");
        } else if (length > 0) {
            words.add("units");
        }
        return words.isEmpty() ? "" : String.join(" ", words) + " ";
    }

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource(delimiter = '|', value = {
        "CONNECTED     | listener closed | -                      |        | ends",
        "HALF_ASKED    | listener closed | -                      |        | ends",
        "ASKED         | listener closed | -                      |        | stays",
        "ACCEPTED      | listener closed | -                      |        | stays",
        "ESTABLISHED   | listener closed | -                      |        | stays",
        "CONNECTED     | nonsense   | -                           |        | ends",
        "CONNECTED     | end        | -                           |        | ends",
        "CONNECTED     | reset      | -                           |        | -",
        "HALF_ASKED    | nonsense   | -                           |        | ends",
        "HALF_ASKED    | end        | -                           |        | ends",
        "HALF_ASKED    | reset      | -                           |        | -",
        "ASKED         | nonsense   | unreachable ECONNRESET      |        | ends",
        "ASKED         | end        | unreachable ECONNRESET      |        | ends",
        "ASKED         | reset      | unreachable ECONNRESET      |        | -",
        "CONNECTED     | overhasty  | request,unreachable ECONNRESET |     | ends",
        "ASKED         | reject     | -                           |        | rejection ends",
        "ASKED         | disconnect | -                           | EINVAL | stays",
        "ASKED         | close      | -                           |        | rejection ends",
        "ACCEPTED      | nonsense   | unreachable ECONNRESET      |        | units ends",
        "ACCEPTED      | end        | unreachable ECONNRESET      |        | ends",
        "ACCEPTED      | reset      | unreachable ECONNRESET      |        | -",
        "ACCEPTED      | accept     | -                           | EINVAL | stays",
        "ACCEPTED      | reject     | -                           | EINVAL | stays",
        "ACCEPTED      | disconnect | disconnected,over           |        | ends",
        "ACCEPTED      | close      | -                           |        | ends",
        "ESTABLISHED   | nonsense   | disconnected,over           |        | units ends",
        "ESTABLISHED   | end        | disconnected,over           |        | ends",
        "ESTABLISHED   | reset      | disconnected,over           |        | -",
        "ESTABLISHED   | accept     | -                           | EINVAL | stays",
        "ESTABLISHED   | reject     | -                           | EINVAL | stays",
        "ESTABLISHED   | disconnect | disconnected,over           |        | ends",
        "ESTABLISHED   | close      | -                           |        | ends",
        "ASKING        | nonsense   | refused -104                |        | units ends",
        "ASKING        | end        | refused -104                |        | ends",
        "ASKING        | reset      | refused -104                |        | -",
        "ASKING        | reply      | established                 |        | stays",
        "ASKING        | rejection  | refused -104                |        | ends",
        "ASKING        | accept     | -                           | EINVAL | stays",
        "ASKING        | disconnect | -                           | EINVAL | stays",
        "ASKING        | close      | -                           |        | ends",
        "HALF_ANSWERED | nonsense   | refused -104                |        | units ends",
        "HALF_ANSWERED | end        | refused -104                |        | ends",
        "HALF_ANSWERED | close      | -                           |        | ends",
        "ANSWERED      | nonsense   | disconnected,over           |        | units ends",
        "ANSWERED      | end        | disconnected,over           |        | units ends",
        "ANSWERED      | reset      | disconnected,over           |        | -",
        "ANSWERED      | accept     | -                           | EINVAL | stays",
        "ANSWERED      | disconnect | disconnected,over           |        | units ends",
        "ANSWERED      | close      | -                           |        | units ends"})
    void eventInAState(String state, String event, String words, @Nullable String error,
            String peerSees) throws Exception {
        bringTo(state);
        assertThat(befalls(event)).isEqualTo(Objects.requireNonNullElse(error, ""));
        List<String> expected = "-".equals(words) ? List.of() : Arrays.asList(words.split(",", -1));
        awaitWords(expected.size());
        assertThat(seen(!"stays".equals(peerSees))).isEqualTo(peerSees);
        assertThat(side.heard.subList(known, side.heard.size())).isEqualTo(expected);
    }
}
