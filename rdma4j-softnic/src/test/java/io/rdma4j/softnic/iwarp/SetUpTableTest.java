// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What each event does to a connection in each state of its set-up: which event its application gets, or which error the
 * call has, and what its peer sees: that the stream {@code stays}, that it {@code ends}, or a frame, before its end.
 * {@code -} is nothing. The peer is a plain socket.
 */
class SetUpTableTest extends TimedStage {
    enum State {
        /** TCP is not connected, because the peer's system does not answer. */
        CONNECTING,
        /** The responder has heard nothing yet. */
        CONNECTED,
        /** It has heard a part of the request. */
        HALF_ASKED,
        ASKED,
        ACCEPTED,
        ESTABLISHED,
        /** The initiator waits for the reply. */
        ASKING,
        /** It has a part of it. */
        HALF_ANSWERED,
        ANSWERED,
        /** The responder has heard that the request was withdrawn. */
        WITHDRAWN
    }

    enum Event {
        // Of the peer.
        REFUSED,
        REQUEST,
        /** Its revision is that of the first drafts. */
        REQUEST_OF_REVISION_0,
        /** It has the flag that rejects. */
        REQUEST_THAT_REJECTS,
        OVERHASTY,
        REPLY,
        REPLY_OF_REVISION_0,
        REJECTION,
        NONSENSE,
        END,
        RESET,
        // Of time.
        TIME_OUT,
        // Of the application.
        ACCEPT,
        REJECT,
        DISCONNECT,
        CLOSE,
        LISTENER_CLOSED
    }

    private static final String[] ROWS = {
        "CONNECTING    | refused    | refused -111                |        | -",
        "CONNECTING    | time-out   | unreachable ETIMEDOUT       |        | -",
        "CONNECTING    | accept     | -                           | EINVAL | -",
        "CONNECTING    | reject     | -                           | EINVAL | -",
        "CONNECTING    | disconnect | -                           | EINVAL | -",
        "CONNECTING    | close      | -                           |        | -",
        "CONNECTED     | request    | request                     |        | stays",
        "CONNECTED     | request of revision 0 | -                   |        | ends",
        "CONNECTED     | request that rejects | -                    |        | rejection ends",
        "CONNECTED     | overhasty  | request,unreachable ECONNRESET |     | ends",
        "CONNECTED     | nonsense   | -                           |        | ends",
        "CONNECTED     | end        | -                           |        | ends",
        "CONNECTED     | reset      | -                           |        | -",
        "CONNECTED     | time-out   | -                           |        | ends",
        "CONNECTED     | listener closed | -                      |        | ends",
        "HALF_ASKED    | request    | request                     |        | stays",
        "HALF_ASKED    | request of revision 0 | -                   |        | ends",
        "HALF_ASKED    | request that rejects | -                    |        | rejection ends",
        "HALF_ASKED    | overhasty  | request,unreachable ECONNRESET |     | ends",
        "HALF_ASKED    | nonsense   | -                           |        | ends",
        "HALF_ASKED    | end        | -                           |        | ends",
        "HALF_ASKED    | reset      | -                           |        | -",
        "HALF_ASKED    | time-out   | -                           |        | ends",
        "HALF_ASKED    | listener closed | -                      |        | ends",
        "ASKED         | nonsense   | unreachable ECONNRESET      |        | ends",
        "ASKED         | end        | unreachable ECONNRESET      |        | ends",
        "ASKED         | reset      | unreachable ECONNRESET      |        | -",
        "ASKED         | time-out   | -                           |        | stays",
        "ASKED         | accept     | -                           |        | stays",
        "ASKED         | reject     | -                           |        | rejection ends",
        "ASKED         | disconnect | -                           | EINVAL | stays",
        "ASKED         | close      | -                           |        | rejection ends",
        "ASKED         | listener closed | -                      |        | stays",
        "ACCEPTED      | nonsense   | unreachable ECONNRESET      |        | units ends",
        "ACCEPTED      | end        | unreachable ECONNRESET      |        | ends",
        "ACCEPTED      | reset      | unreachable ECONNRESET      |        | -",
        "ACCEPTED      | time-out   | unreachable ETIMEDOUT       |        | ends",
        "ACCEPTED      | accept     | -                           | EINVAL | stays",
        "ACCEPTED      | reject     | -                           | EINVAL | stays",
        "ACCEPTED      | disconnect | disconnected,over           |        | ends",
        "ACCEPTED      | close      | -                           |        | ends",
        "ACCEPTED      | listener closed | -                      |        | stays",
        "ESTABLISHED   | nonsense   | disconnected,over           |        | units ends",
        "ESTABLISHED   | end        | disconnected,over           |        | ends",
        "ESTABLISHED   | reset      | disconnected,over           |        | -",
        "ESTABLISHED   | time-out   | -                           |        | stays",
        "ESTABLISHED   | accept     | -                           | EINVAL | stays",
        "ESTABLISHED   | reject     | -                           | EINVAL | stays",
        "ESTABLISHED   | disconnect | disconnected,over           |        | ends",
        "ESTABLISHED   | close      | -                           |        | ends",
        "ESTABLISHED   | listener closed | -                      |        | stays",
        "ASKING        | reply      | established                 |        | stays",
        "ASKING        | reply of revision 0 | refused -111         |        | units ends",
        "ASKING        | rejection  | refused -104                |        | ends",
        "ASKING        | nonsense   | refused -104                |        | units ends",
        "ASKING        | end        | refused -104                |        | ends",
        "ASKING        | reset      | refused -104                |        | -",
        "ASKING        | time-out   | unreachable ETIMEDOUT       |        | ends",
        "ASKING        | accept     | -                           | EINVAL | stays",
        "ASKING        | reject     | -                           | EINVAL | stays",
        "ASKING        | disconnect | -                           | EINVAL | stays",
        "ASKING        | close      | -                           |        | ends",
        "HALF_ANSWERED | reply      | established                 |        | stays",
        "HALF_ANSWERED | reply of revision 0 | refused -111         |        | units ends",
        "HALF_ANSWERED | rejection  | refused -104                |        | ends",
        "HALF_ANSWERED | nonsense   | refused -104                |        | units ends",
        "HALF_ANSWERED | end        | refused -104                |        | ends",
        "HALF_ANSWERED | reset      | refused -104                |        | -",
        "HALF_ANSWERED | time-out   | unreachable ETIMEDOUT       |        | ends",
        "HALF_ANSWERED | accept     | -                           | EINVAL | stays",
        "HALF_ANSWERED | reject     | -                           | EINVAL | stays",
        "HALF_ANSWERED | disconnect | -                           | EINVAL | stays",
        "HALF_ANSWERED | close      | -                           |        | ends",
        "ANSWERED      | nonsense   | disconnected,over           |        | units ends",
        "ANSWERED      | end        | disconnected,over           |        | units ends",
        "ANSWERED      | reset      | disconnected,over           |        | -",
        "ANSWERED      | time-out   | -                           |        | stays",
        "ANSWERED      | accept     | -                           | EINVAL | stays",
        "ANSWERED      | reject     | -                           | EINVAL | stays",
        "ANSWERED      | disconnect | disconnected,over           |        | units ends",
        "ANSWERED      | close      | -                           |        | units ends",
        "WITHDRAWN     | time-out   | -                           |        | -",
        "WITHDRAWN     | accept     | -                       | ECONNRESET | -",
        "WITHDRAWN     | reject     | -                       | ECONNRESET | -",
        "WITHDRAWN     | disconnect | -                           | EINVAL | -",
        "WITHDRAWN     | close      | -                           |        | -",
        "WITHDRAWN     | listener closed | -                      |        | -"};

    /** Pairs that cannot be, and why. */
    private static final String[] IMPOSSIBLE = {
        "CONNECTING | request request-of-revision-0 request-that-rejects overhasty reply"
                + " reply-of-revision-0 rejection nonsense end reset"
                + " | nothing comes before TCP is connected, and a reset then is a refusal",
        "CONNECTED HALF_ASKED ASKED ACCEPTED ESTABLISHED ASKING HALF_ANSWERED ANSWERED WITHDRAWN"
                + " | refused | TCP is connected",
        "ASKED ACCEPTED ESTABLISHED"
                + " | request request-of-revision-0 request-that-rejects overhasty"
                + " | the request has come; a second one is nonsense",
        "ASKING HALF_ANSWERED ANSWERED"
                + " | request request-of-revision-0 request-that-rejects overhasty"
                + " | a peer that is asked does not ask; its request is nonsense",
        "CONNECTED HALF_ASKED ASKED ACCEPTED ESTABLISHED | reply reply-of-revision-0 rejection"
                + " | a peer that asks does not answer; its reply is nonsense",
        "ANSWERED | reply reply-of-revision-0 rejection"
                + " | the reply has come; a second one is nonsense",
        "WITHDRAWN | request request-of-revision-0 request-that-rejects overhasty reply"
                + " reply-of-revision-0 rejection nonsense end reset"
                + " | the peer has ended the stream",
        "CONNECTED HALF_ASKED | accept reject disconnect close"
                + " | the application knows nothing of it yet",
        "CONNECTING ASKING HALF_ANSWERED ANSWERED | listener-closed"
                + " | the side that asks has no listener"};

    private static final EventTable<State, Event> TABLE = new EventTable<>(State.class,
            Event.class, ROWS, IMPOSSIBLE);

    private static final int PATIENCE_MS = 10_000;
    /** As long as nothing may come. */
    private static final int SHORT_MS = 30;
    /** Longer than anything is waited for. */
    private static final long LONG_NS = 60_000_000_000L;
    /** More than a listener with the shortest queue takes. */
    private static final int CROWD = 8;
    /** What the parts of a frame have in common, whichever it is. */
    private static final int KEY = 16;
    /** A unit of 32 bytes whose header is wrong, and no frame, nor the rest of one. */
    private static final byte[] NONSENSE = ("\0 " + "\177".repeat(62))
            .getBytes(StandardCharsets.US_ASCII);

    private final List<SocketChannel> crowd = new ArrayList<>();
    private @Nullable ServerSocket peerListener;
    private @Nullable Socket peer;
    private Side side = server;
    private int known;
    private int halfSent;

    SetUpTableTest() throws Exception {}

    @AfterEach
    void closePeer() throws IOException {
        if (peer != null) {
            peer.close();
        }
        if (peerListener != null) {
            peerListener.close();
        }
        for (SocketChannel each : crowd) {
            each.close();
        }
    }

    private Socket peer() {
        return Objects.requireNonNull(peer);
    }

    // ---------------------------------------------------------------- states

    private void bringTo(State state) throws Exception {
        switch (state) {
            case CONNECTING -> askCrowdedPeer();
            case CONNECTED -> beConnected();
            case HALF_ASKED -> {
                beConnected();
                sendHalf(request());
            }
            case ASKED -> beAsked();
            case ACCEPTED -> beAccepted();
            case ESTABLISHED -> {
                beAccepted();
                // A WRITE of no bytes.
                peer().getOutputStream().write(new byte[]{0, 14, (byte) 0xc1, 0x40, 0, 0, 0, 0, 0,
                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
                server.awaitWord("established");
            }
            case ASKING -> askPeer();
            case HALF_ANSWERED -> {
                askPeer();
                sendHalf(reply(0));
            }
            case ANSWERED -> {
                askPeer();
                peer().getOutputStream().write(reply(0));
                client.awaitWord("established");
            }
            case WITHDRAWN -> {
                beAsked();
                peer().close();
                server.awaitWord("unreachable ECONNRESET");
            }
        }
        known = side.heard.size();
    }

    /** Sends a part of a frame, which the device has read afterwards: otherwise it could read the rest with it. */
    private void sendHalf(byte[] frame) throws Exception {
        long before = readBytes();
        halfSent = KEY;
        peer().getOutputStream().write(frame, 0, halfSent);
        Wait.until("the device has read a part of a frame",
                () -> readBytes() == before + halfSent);
    }

    /** Sends a frame, or the rest of it. */
    private void sendRest(byte[] frame) throws IOException {
        peer().getOutputStream().write(frame, halfSent, frame.length - halfSent);
    }

    private static byte[] request() {
        return FIRST_BY_WRITE.bytes();
    }

    /** As the usual request, with more flags or another revision. */
    private static byte[] request(int flags, int revision) {
        return new MpaFrame(false, FIRST_BY_WRITE.flags() | flags, revision,
                FIRST_BY_WRITE.inboundReads(), FIRST_BY_WRITE.outboundReads(),
                FIRST_BY_WRITE.privateData()).bytes();
    }

    private static byte[] reply(int flags) {
        return new MpaFrame(true, MpaFrame.ENHANCED | flags, MpaFrame.ENHANCED_REVISION,
                4 | MpaFrame.PEER_TO_PEER, 4 | MpaFrame.WRITE_RTR, new byte[0]).bytes();
    }

    /** The device has accepted the connection, because it ends one that came later. */
    private void beConnected() throws Exception {
        int port = listen();
        peer = new Socket(ADDRESS, port);
        try (Socket later = new Socket(ADDRESS, port)) {
            later.getOutputStream().write(NONSENSE);
            later.setSoTimeout(PATIENCE_MS);
            assertThat(later.getInputStream().read()).isEqualTo(-1);
        }
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

    /**
     * Asks a peer whose system has no room for one more connection, and lets it wait. Linux ignores requests while the queue
     * of a listener is full, where other systems may refuse them. The asking system repeats its request a second later, which
     * is refused if the listener is closed by then.
     */
    private void askCrowdedPeer() throws Exception {
        side = client;
        peerListener = new ServerSocket(0, 1, ADDRESS);
        for (int i = 0; i < CROWD; i++) {
            SocketChannel each = SocketChannel.open();
            crowd.add(each);
            each.configureBlocking(false);
            each.connect(peerListener.getLocalSocketAddress());
        }
        ask(peerListener.getLocalPort());
    }

    private void askPeer() throws Exception {
        side = client;
        peerListener = new ServerSocket(0, 1, ADDRESS);
        ask(peerListener.getLocalPort());
        peer = peerListener.accept();
        assertThat(peer().getInputStream().readNBytes(24 + 5)).hasSize(24 + 5);
    }

    // ---------------------------------------------------------------- events

    private String befalls(Event event) throws Exception {
        try {
            switch (event) {
                case REFUSED -> Objects.requireNonNull(peerListener).close();
                case REQUEST -> sendRest(request());
                case REQUEST_OF_REVISION_0 -> sendRest(request(0, 0));
                case REQUEST_THAT_REJECTS -> sendRest(
                        request(MpaFrame.REJECT, MpaFrame.ENHANCED_REVISION));
                case OVERHASTY -> sendRest(Arrays.copyOf(request(), request().length + 20));
                case REPLY -> sendRest(reply(0));
                case REPLY_OF_REVISION_0 -> sendRest(
                        new MpaFrame(true, 0, 0, 0, 0, new byte[0]).bytes());
                case REJECTION -> sendRest(reply(MpaFrame.REJECT));
                case NONSENSE -> peer().getOutputStream().write(NONSENSE);
                case END -> peer().shutdownOutput();
                case RESET -> {
                    peer().setSoLinger(true, 0);
                    peer().close();
                }
                case TIME_OUT -> skip(LONG_NS);
                case ACCEPT -> connection().accept(new ConnectionParameters(),
                        side.queuePair.number());
                case REJECT -> connection().reject(new byte[0]);
                case DISCONNECT -> connection().disconnect();
                case CLOSE -> connection().close();
                case LISTENER_CLOSED -> Objects.requireNonNull(listener).close();
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
        if (peer == null || peer().isClosed()) {
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

    // ---------------------------------------------------------------- the table

    static Stream<Arguments> rows() {
        return TABLE.rows();
    }

    // [RFC 5044 7.1.1-1] [RFC 5044 7.1.1-4] [RFC 5044 7.1.2-1] [RFC 5044 7.1.2-2]
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("rows")
    void eventInAState(State state, Event event, String words, String error, String peerSees)
            throws Exception {
        bringTo(state);
        assertThat(befalls(event)).isEqualTo(error);
        List<String> expected = "-".equals(words) ? List.of() : Arrays.asList(words.split(",", -1));
        awaitWords(expected.size());
        assertThat(seen(!"stays".equals(peerSees))).isEqualTo(peerSees);
        assertThat(side.heard.subList(known, side.heard.size())).isEqualTo(expected);
    }

    @Test
    void everyEventInEveryStateHasItsRowOrIsImpossible() {
        TABLE.assertIsComplete();
    }
}
