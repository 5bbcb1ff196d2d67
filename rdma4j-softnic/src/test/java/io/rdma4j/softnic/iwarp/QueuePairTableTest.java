// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What each event does to a queue pair of iWARP in each state: its state afterwards, how posted requests complete, which
 * events its connection and its device report, or which error the call has. {@code -} is nothing. The peer is a plain socket.
 * A receive is posted in each state, and in HOLDING and SQD a send that cannot leave.
 */
class QueuePairTableTest extends IwarpStage {
    enum State {
        INIT,
        /** In RTS, but it sends nothing until the peer has sent something, as that has promised. */
        HOLDING,
        RTS,
        /** It ends its connection once all is sent, and the peer does not read. */
        SQD,
        ERR,
        RESET
    }

    enum Event {
        // Of the peer.
        END,
        BREAK,
        TERMINATE,
        PEER_FAULT,
        // Of the application.
        OWN_FAULT,
        DISCONNECT,
        CLOSE,
        MODIFY_TO_ERR,
        MODIFY_TO_RESET
    }

    private static final String[] ROWS = {
        "INIT    | own fault       | INIT  | -               | -                 | -               | EINVAL",
        "INIT    | close           | -     | -               | -                 | -               |",
        "INIT    | modify to ERR   | ERR   | receive FLUSHED | -                 | -               |",
        "INIT    | modify to RESET | RESET | -               | -                 | -               |",
        "HOLDING | end             | ERR   | all FLUSHED     | unreachable       | -               |",
        "HOLDING | break           | ERR   | all FLUSHED     | unreachable       | -               |",
        "HOLDING | terminate       | ERR   | all FLUSHED     | unreachable       | -               |",
        "HOLDING | peer fault      | ERR   | all FLUSHED     | unreachable       | QP_ACCESS_ERROR |",
        "HOLDING | own fault       | RTS   | -               | -                 | -               |",
        "HOLDING | disconnect      | RTS   | -               | -                 | -               |",
        "HOLDING | close           | -     | -               | unreachable       | -               |",
        "HOLDING | modify to ERR   | ERR   | all FLUSHED     | unreachable       | -               |",
        "HOLDING | modify to RESET | RESET | -               | unreachable       | -               |",
        "RTS     | end             | ERR   | receive FLUSHED | disconnected,over | -               |",
        "RTS     | break           | ERR   | receive FLUSHED | disconnected,over | -               |",
        "RTS     | terminate       | ERR   | receive FLUSHED | disconnected,over | -               |",
        "RTS     | peer fault      | ERR   | receive FLUSHED | disconnected,over | QP_ACCESS_ERROR |",
        "RTS     | own fault       | ERR   | receive FLUSHED,send PROTECTION | disconnected,over | -               |",
        "RTS     | disconnect      | ERR   | receive FLUSHED | disconnected,over | -               |",
        "RTS     | close           | -     | -               | disconnected,over | -               |",
        "RTS     | modify to ERR   | ERR   | receive FLUSHED | disconnected,over | -               |",
        "RTS     | modify to RESET | RESET | -               | disconnected,over | -               |",
        "SQD     | end             | ERR   | all FLUSHED     | disconnected,over | -               |",
        "SQD     | break           | ERR   | all FLUSHED     | disconnected,over | -               |",
        "SQD     | terminate       | ERR   | all FLUSHED     | disconnected,over | -               |",
        "SQD     | peer fault      | ERR   | all FLUSHED     | disconnected,over | QP_ACCESS_ERROR |",
        "SQD     | own fault       | SQD   | -               | -                 | -               |",
        "SQD     | disconnect      | SQD   | -               | -                 | -               |",
        "SQD     | close           | -     | -               | disconnected,over | -               |",
        "SQD     | modify to ERR   | ERR   | all FLUSHED     | disconnected,over | -               |",
        "SQD     | modify to RESET | RESET | -               | disconnected,over | -               |",
        "ERR     | own fault       | ERR   | send FLUSHED    | -                 | -               |",
        "ERR     | disconnect      | ERR   | -               | -                 | -               |",
        "ERR     | close           | -     | -               | -                 | -               |",
        "ERR     | modify to ERR   | ERR   | -               | -                 | -               |",
        "ERR     | modify to RESET | RESET | -               | -                 | -               |",
        "RESET   | own fault       | RESET | -               | -                 | -               | EINVAL",
        "RESET   | disconnect      | RESET | -               | -                 | -               |",
        "RESET   | close           | -     | -               | -                 | -               |",
        "RESET   | modify to ERR   | RESET | -               | -                 | -               | EINVAL",
        "RESET   | modify to RESET | RESET | -               | -                 | -               |"};

    /** Pairs that cannot be, and why. */
    private static final String[] IMPOSSIBLE = {
        "INIT | end break terminate peer-fault disconnect | it has no connection yet",
        "ERR RESET | end break terminate peer-fault | it has no connection any more"};

    private static final EventTable<State, Event> TABLE = new EventTable<>(State.class,
            Event.class, ROWS, IMPOSSIBLE);

    private static final int RECEIVE = 1;
    private static final int SEND = 2;
    private static final int BIG = 1 << 20;
    private static final byte[] EMPTY_WRITE = ConnectionEndTest.EMPTY_WRITE;
    /** DDP, untagged, no buffer; without headers. RFC 5040 4.8. */
    private static final byte[] TERMINATE = {0, 22, 0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1,
        0, 0, 0, 0, 0x12, 2, 0, 0, 0, 0, 0, 0};
    /** A WRITE of four bytes to memory that there is not. */
    private static final byte[] STRAY_WRITE = {0, 18, (byte) 0xc1, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0,
        0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0};

    private @Nullable Socket peer;
    private int known;

    QueuePairTableTest() throws Exception {}

    @AfterEach
    void closePeer() throws IOException {
        if (peer != null) {
            peer.close();
        }
    }

    private Socket peer() {
        return Objects.requireNonNull(peer);
    }

    // ---------------------------------------------------------------- states

    private void bringTo(State state) throws Exception {
        switch (state) {
            case INIT -> server.receive(RECEIVE, BIG);
            case HOLDING -> {
                beAccepted();
                send(server.region);
            }
            case RTS -> beEstablished();
            case SQD -> {
                beEstablished();
                for (int i = 0; i < DEPTH / 2; i++) {
                    send(server.region);
                }
                modify(QueuePairState.SQD);
            }
            case ERR -> {
                beEstablished();
                modify(QueuePairState.ERR);
                server.awaitWord("over");
                assertCompleted("receive FLUSHED");
            }
            case RESET -> {
                beEstablished();
                modify(QueuePairState.RESET);
                server.awaitWord("over");
            }
        }
        known = server.heard.size();
    }

    private void beAccepted() throws Exception {
        server.receive(RECEIVE, BIG);
        peer = askAsInitiator(listen(), FIRST_BY_WRITE);
        server.connected().accept(new ConnectionParameters(), server.queuePair.number());
        assertThat(peer.getInputStream().readNBytes(MpaFrame.HEADER_LENGTH
                + MpaFrame.READS_LENGTH)).hasSize(24);
    }

    private void beEstablished() throws Exception {
        beAccepted();
        peer().getOutputStream().write(EMPTY_WRITE);
        server.awaitWord("established");
    }

    // ---------------------------------------------------------------- events

    private String befalls(Event event) throws Exception {
        try {
            switch (event) {
                case END -> peer().shutdownOutput();
                case BREAK -> {
                    peer().setSoLinger(true, 0);
                    peer().close();
                }
                case TERMINATE -> peer().getOutputStream().write(TERMINATE);
                case PEER_FAULT -> peer().getOutputStream().write(STRAY_WRITE);
                case OWN_FAULT -> {
                    MemoryRegion gone = server.domain.register(server.memory,
                            AccessFlag.LOCAL_WRITE);
                    gone.close();
                    send(gone);
                }
                case DISCONNECT -> server.connected().disconnect();
                case CLOSE -> server.queuePair.close();
                case MODIFY_TO_ERR -> modify(QueuePairState.ERR);
                case MODIFY_TO_RESET -> modify(QueuePairState.RESET);
            }
            return "";
        } catch (RdmaException e) {
            return e.errno().toString();
        }
    }

    private void send(MemoryRegion from) throws RdmaException {
        server.queuePair.postSend(new SendWorkRequest().id(SEND).send().add(from, 0, BIG)
                .set(SendFlag.SIGNALED));
    }

    private void modify(QueuePairState state) throws RdmaException {
        server.queuePair.modify(new QueuePairAttributes().state(state));
    }

    /** Completions may be waited for: what a thread posts while another one runs the engine is left to that one. */
    private void assertCompleted(String expected) throws RdmaException {
        Set<String> found = new TreeSet<>();
        take(found);
        if (!"-".equals(expected)) {
            Wait.until(expected, () -> told(found).equals(expected), () -> take(found));
        }
        assertThat(told(found)).isEqualTo(expected);
    }

    /** Adds which kinds of requests have completed, and how, but for sends that have left. */
    private void take(Set<String> found) throws RdmaException {
        while (server.completions.poll(server.completion)) {
            if (server.completion.status() != WorkCompletionStatus.SUCCESS) {
                found.add((server.completion.id() == RECEIVE ? "receive " : "send ")
                        + server.completion.status());
            }
        }
    }

    private static String told(Set<String> found) {
        return found.isEmpty() ? "-" : String.join(",", found)
                .replace("receive WORK_REQUEST_FLUSHED,send WORK_REQUEST_FLUSHED", "all FLUSHED")
                .replace("WORK_REQUEST_FLUSHED", "FLUSHED")
                .replace("LOCAL_PROTECTION_ERROR", "PROTECTION");
    }

    private String asyncEvents() throws RdmaException {
        List<String> types = new ArrayList<>();
        for (AsyncEvent event = context
                .asyncEventChannel().pollEvent(Duration.ZERO); event != null; event = context
                        .asyncEventChannel().pollEvent(Duration.ZERO)) {
            types.add(event.type().toString());
            event.close();
        }
        return types.isEmpty() ? "-" : String.join(",", types);
    }

    // ---------------------------------------------------------------- the table

    static Stream<Arguments> rows() {
        return TABLE.rows();
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("rows")
    void eventInAState(State before, Event event, String after, String completed, String words,
            String reported, String error) throws Exception {
        bringTo(before);
        assertThat(befalls(event)).isEqualTo(error);
        List<String> expected = "-".equals(words) ? List.of() : Arrays.asList(words.split(",", -1));
        Wait.until("all words", () -> server.heard.size() >= known + expected.size());
        assertCompleted(completed);
        if (!"-".equals(after)) {
            assertThat(server.queuePair.query().state()).isEqualTo(QueuePairState.valueOf(after));
        }
        assertThat(asyncEvents()).isEqualTo(reported);
        assertThat(server.heard.subList(known, server.heard.size()).stream()
                .map(word -> word.replace("unreachable ECONNRESET", "unreachable")))
                .containsExactlyElementsOf(expected);
    }

    @Test
    void everyEventInEveryStateHasItsRowOrIsImpossible() {
        TABLE.assertIsComplete();
    }
}
