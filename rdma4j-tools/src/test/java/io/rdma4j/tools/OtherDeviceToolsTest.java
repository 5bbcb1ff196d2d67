// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Clients that name no device, of a server that has iWARP alone. What is remembered of a port is nothing to another test. */
@Tag("processes")
@ExtendWith(NothingStaysOpen.class)
class OtherDeviceToolsTest {
    private static final String DEVICE = "rdma4j.device";
    private static final String AT_OWN = " -a " + Loopback.OWN + " -p ";
    private static final String NO_ROCE = "no process has the port at the peer's address";
    private static final String IWARP = "a program listens there for iwarp_lo";

    @AfterEach
    void leaveTheChoice() {
        System.clearProperty(DEVICE);
    }

    /** {@return a server that is to listen over iWARP alone} Until it says so, it is alone here. */
    private static Running server(String line) throws Exception {
        System.setProperty(DEVICE, "iwarp");
        return Command.start(line);
    }

    private static String portOf(Running server) throws Exception {
        String port = server.port();
        System.clearProperty(DEVICE);
        return port;
    }

    /** {@return a port that no other test uses soon, for a server that does not tell which it has} */
    private static int freePort() throws IOException {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.ofLiteral(Loopback.OWN))) {
            return any.getLocalPort();
        }
    }

    private static void assertBothEndWell(Running server, Running client) throws Exception {
        int clientStatus = client.awaitEnd();
        assertThat(clientStatus).as(client.text()).isZero();
        assertThat(server.awaitEnd()).as(server.text()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-V", "-q", "-I OWN"})
    void rpingIsServed(String options) throws Exception {
        try (Running server = server("rping -s -v -C 2" + AT_OWN + 0);
                Running client = Command.start("rping -c -C 2" + AT_OWN + portOf(server) + " "
                        + options.replace("OWN", Loopback.OWN))) {
            assertBothEndWell(server, client);
        }
    }

    @Test
    void ucmatoseIsServedWithAllItsConnections() throws Exception {
        String options = "ucmatose -c 3 -p " + freePort();
        try (Running server = server(options + " -b " + Loopback.OWN)) {
            server.lineWith(": starting server");
            System.clearProperty(DEVICE);
            try (Running client = Command.start(options + " -s " + Loopback.OWN)) {
                assertBothEndWell(server, client);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_write_bw -n 20 -q 2", "ib_send_lat -n 20"})
    void perftestIsServed(String tool) throws Exception {
        String line = tool + " --no-perform_warm_up -F -R -p ";
        try (Running server = server(line + 0);
                Running client = Command.start(line + portOf(server) + " 127.0.0.1")) {
            assertBothEndWell(server, client);
            assertThat(client.text()).contains(" Transport type  : IW\n");
        }
    }

    @Test
    void cmtimeIsServed() throws Exception {
        try (Running server = server("cmtime -p 0 -b " + Loopback.OWN);
                Running client = Command.start("cmtime -c 5 -s " + Loopback.OWN + " -p "
                        + portOf(server))) {
            assertThat(client.awaitEnd()).as(client.text()).isZero();
        }
    }

    @Test
    void clientOfTheClassicPairIsServed() throws Exception {
        try (Program server = Program.withOptions(List.of("-D" + DEVICE + "=iwarp"), "server",
                "-n", "1", "-a", Loopback.OWN);
                Program client = new Program("client", Loopback.OWN, server.port())) {
            assertBothEndWell(server, client);
        }
    }

    // ---------------------------------------------------------------- who is not served

    /** What accepts TCP connections and ends them. */
    private static final class Accepting implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 4,
                InetAddress.ofLiteral(Loopback.OWN));

        Accepting() throws IOException {
            Thread.ofVirtual().start(this::accept);
        }

        private void accept() {
            while (!listener.isClosed()) {
                try (Socket accepted = listener.accept()) {
                    accepted.shutdownOutput();
                } catch (IOException closed) {
                    return;
                }
            }
        }

        int port() {
            return listener.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    @Test
    void firstFailureIsToldWhereTheProgramDoesNotSpeakIwarpEither() throws Exception {
        try (Accepting program = new Accepting();
                Running client = Command.start("rping -c -C 2" + AT_OWN + program.port())) {
            client.assertFails(1, NO_ROCE, IWARP);
            assertThat(client.text()).doesNotContain("closed the connection");
        }
    }

    @Test
    void deviceThatIsNamedIsTheOnlyOne() throws Exception {
        System.setProperty(DEVICE, "roce");
        try (Accepting program = new Accepting();
                Running client = Command.start("rping -c -C 2" + AT_OWN + program.port())) {
            client.assertFails(1, NO_ROCE);
            assertThat(client.text()).doesNotContain("iwarp");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_atomic_bw", "ib_send_bw -c UD"})
    void perftestThatNeedsRoceSaysWhatItFound(String tool) throws Exception {
        try (Accepting program = new Accepting();
                Running client = Command.start(tool + " -F -R -p " + program.port() + " "
                        + Loopback.OWN)) {
            client.assertFails(1, NO_ROCE, IWARP);
        }
    }
}
