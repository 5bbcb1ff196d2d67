// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.ContainedDefects;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import static org.assertj.core.api.Assertions.assertThat;

/** A handler that throws an exception costs its connection and nothing else, whatever its call comes from. */
@Timeout(60)
class FailingHandlerTest extends TimedStage {
    /** Longer than a reply is waited for. */
    private static final long TOO_LONG_NS = 11_000_000_000L;

    private final ContainedDefects defects = ContainedDefects.listen();

    FailingHandlerTest() throws Exception {}

    @AfterEach
    void theLogIsAsBefore() {
        defects.close();
    }

    /** Each of its methods fails. */
    private static final class Failing implements CmConnection.Handler {
        final List<String> heard = new CopyOnWriteArrayList<>();
        /** Fails only once, and so that another thread or round may succeed. */
        boolean isAtTheEndOfItsStack;

        private void fail(String what) {
            heard.add(what);
            if (isAtTheEndOfItsStack && heard.size() == 1) {
                throw new StackOverflowError(what + ", for this test");
            }
            if (isAtTheEndOfItsStack) {
                return;
            }
            throw new IllegalStateException(what + ", for this test");
        }

        @Override
        public void onReply(CmConnection of, ConnectionParameters parameters) {
            fail("reply");
        }

        @Override
        public void onEstablished(@Nullable ConnectionParameters parameters) {
            fail("established");
        }

        @Override
        public void onRefused(Refusal refusal) {
            fail("refused");
        }

        @Override
        public void onUnreachable(Errno reason) {
            fail("unreachable");
        }

        @Override
        public void onDisconnected() {
            fail("disconnected");
        }

        @Override
        public void onTimewaitExit() {
            fail("over");
        }
    }

    private void ask(int port, CmConnection.Handler handler) throws Exception {
        client.connection = context.connect(new ConnectRequest(PortSpace.TCP, QueuePairType.RC,
                new InetSocketAddress(ADDRESS, 0), null, new InetSocketAddress(ADDRESS, port),
                new ConnectionParameters(), client.queuePair.number(), CmOptions.DEFAULT),
                handler);
    }

    private void assertThatItFailsOnce(Failing handler, String what) throws Exception {
        Wait.until("the failure is reported", defects::isAny);
        assertThat(handler.heard).containsExactly(what);
    }

    @Test
    void atTheEndOfTheWaitForAReply() throws Exception {
        Failing handler = new Failing();
        try (ServerSocket silent = new ServerSocket(0, 1, ADDRESS)) {
            ask(silent.getLocalPort(), handler);
            skip(TOO_LONG_NS);
            assertThatItFailsOnce(handler, "unreachable");
        }
        connect();
    }

    @Test
    void whatAnErrorHasInterruptedIsToldInAnotherRound() throws Exception {
        Failing handler = new Failing();
        handler.isAtTheEndOfItsStack = true;
        try (ServerSocket silent = new ServerSocket(0, 1, ADDRESS)) {
            ask(silent.getLocalPort(), handler);
            skip(TOO_LONG_NS);
            Wait.until("it is told again", () -> handler.heard.size() > 1);
            assertThat(handler.heard).containsOnly("unreachable");
        }
        connect();
    }

    @Test
    void atARefusal() throws Exception {
        Failing handler = new Failing();
        try (ServerSocket deaf = new ServerSocket(0, 1, ADDRESS)) {
            ask(deaf.getLocalPort(), handler);
            deaf.accept().close();
            assertThatItFailsOnce(handler, "refused");
        }
        connect();
    }

    @Test
    void atAReplyThatIsNone() throws Exception {
        Failing handler = new Failing();
        try (ServerSocket other = new ServerSocket(0, 1, ADDRESS)) {
            ask(other.getLocalPort(), handler);
            try (Socket asked = other.accept()) {
                asked.getOutputStream().write(new byte[20]);
                assertThatItFailsOnce(handler, "refused");
            }
        }
        connect();
    }

    /** The initiator promises nothing, so the connection stands with the acceptance, which the next round reports. */
    @Test
    void whenItIsTakenAsEstablished() throws Exception {
        Failing handler = new Failing();
        int port = listen((via, request, local, peer, parameters) -> {
            server.connection = request;
            server.heard.add("request");
            return handler;
        });
        try (Socket initiator = new Socket(ADDRESS, port)) {
            initiator.getOutputStream().write(REVISION_ONE.bytes());
            server.awaitWord("request");
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            Wait.until("the failure is reported", defects::isAny);
            assertThat(handler.heard.getFirst()).isEqualTo("established");
            // The reply, and the end.
            initiator.setSoTimeout(20_000);
            assertThatItEnds(initiator);
        }
        assertThatOthersConnect();
    }

    private static void assertThatItEnds(Socket initiator) {
        try {
            initiator.getInputStream().readAllBytes();
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("the connection goes on", e);
        } catch (java.io.IOException reset) {
            // That is an end, too.
        }
    }

    /** The end is reported in the turn that sends the last bytes. */
    @Test
    void whenTheLastBytesHaveLeft() throws Exception {
        Failing handler = new Failing();
        int port = listen();
        ask(port, new CmConnection.Handler() {
            @Override
            public void onReply(CmConnection of, ConnectionParameters parameters) {}

            @Override
            public void onEstablished(@Nullable ConnectionParameters parameters) {
                client.heard.add("established");
            }

            @Override
            public void onRefused(Refusal refusal) {}

            @Override
            public void onUnreachable(Errno reason) {}

            @Override
            public void onDisconnected() {
                handler.onDisconnected();
            }

            @Override
            public void onTimewaitExit() {}
        });
        server.awaitWord("request");
        server.connected().accept(new ConnectionParameters(), server.queuePair.number());
        client.awaitWord("established");
        server.awaitWord("established");

        client.connected().disconnect();

        assertThatItFailsOnce(handler, "disconnected");
        server.awaitWord("over");
        assertThatOthersConnect();
    }

    /** The queue pairs of the stage have had their connection. */
    private void assertThatOthersConnect() throws Exception {
        Side another = new Side(server.context);
        Failing unused = new Failing();
        try (ServerSocket silent = new ServerSocket(0, 1, ADDRESS)) {
            CmConnection asking = context.connect(new ConnectRequest(PortSpace.TCP,
                    QueuePairType.RC, new InetSocketAddress(ADDRESS, 0), null,
                    new InetSocketAddress(ADDRESS, silent.getLocalPort()),
                    new ConnectionParameters(), another.queuePair.number(), CmOptions.DEFAULT),
                    unused);
            try (Socket asked = silent.accept()) {
                asked.setSoTimeout(20_000);
                assertThat(asked.getInputStream().read()).isPositive();
            }
            asking.close();
        }
        another.close();
    }
}
