// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** The tools of rsockets as users call them: two sides, wrong options, wrong peers. */
class RsocketToolsTest {
    private static final String AT_PORT = " -p " + Loopback.PORT;

    private final Invocation tools = new Invocation();

    @AfterAll
    static void nothingStaysOpen() throws Exception {
        NothingStaysOpen.await();
    }

    private static void play(Start how, String tool, String options) throws Exception {
        try (Running server = how
                .run(words(tool + " -b " + Loopback.OWN + AT_PORT + " " + options))) {
            server.lineWith("usec/xfer");
            try (Running client = how
                    .run(words(tool + " -s " + Loopback.OWN + AT_PORT + " " + options))) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.lastLine()).startsWith("custom");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.lastLine()).startsWith("custom");
        }
    }

    private static List<String> words(String line) {
        return List.of(line.split(" ", -1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-T v -T b -I 3 -C 5 -S 1", "-T v -T n -I 2 -C 3 -S 100000",
        "-T b -T s -I 2 -C 3 -S 5000", "-T a -T v -I 2 -C 3 -S 300000",
        "-T async -T socket -T v -I 2 -C 3 -S 300000", "-T f -T v -T b -I 2 -C 3 -S 5000",
        "-T v -T b -I 2 -C 20 -S 3000 -B 4096 -i 0 -k 1"})
    void rstreamExchangesTransfers(String options) throws Exception {
        play(Command::start, "rstream", options);
    }

    /** As in C: both sides say what they have set. */
    @Test
    void streamAsksASilentPeerAfterTheTimeThatWasGiven() throws Exception {
        String options = " -T b -I 1 -C 1 -S 1 -k 17 -f ip";
        try (Running server = Command.start("rstream -b " + Loopback.OWN + AT_PORT + options)) {
            server.lineWith("usec/xfer");
            try (Running client = Command.start("rstream -s " + Loopback.OWN + AT_PORT + options)) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).contains("Keepalive: ON\n  time: 17\n");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.text()).contains("Keepalive: ON\n  time: 17\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rstream", "riostream"})
    void addressesOfAFormatAreTakenAsSuch(String tool) {
        tools.assertFails(1, tool + " -f ip -s localhost", "-f ip", "'localhost'", "no address");
        tools.assertFails(2, tool + " -f gid -s 127.0.0.1", "-f gid is not possible");
        tools.assertFails(2, tool + " -f numbers -s 127.0.0.1", "-f must be name, ip or ipv6");
    }

    @Test
    @Tag("processes")
    void processesExchangeTransfers() throws Exception {
        play(Program::new, "rstream", "-T v -T b -I 2 -C 10 -S 70000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-T v -T b -I 3 -C 5 -S 2", "-T v -T n -I 2 -C 3 -S 100000"})
    void riostreamWritesMappedMemory(String options) throws Exception {
        play(Command::start, "riostream", options);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-T e -T n -C 300 -S 16", "-T echo -T a -C 300 -S 2040",
        "-T b -T e -C 300 -S 1000", "-T n -C 3000 -S 500", "-T s -T e -C 300 -S 1000"})
    void udpongExchangesDatagrams(String options) throws Exception {
        exchangeDatagrams(Command::start, options);
    }

    @Test
    @Tag("processes")
    void processesExchangeDatagrams() throws Exception {
        exchangeDatagrams(Program::new, "-T e -T a -C 300 -S 1500");
    }

    private static void exchangeDatagrams(Start how, String options) throws Exception {
        String sides = "udpong --patience 3 -p " + Loopback.PORT + " " + options;
        try (Running server = how.run(words(sides + " --once -b " + Loopback.OWN))) {
            server.lineWith("waiting for datagrams");
            try (Running client = how
                    .run(words(sides + " -s " + Loopback.OWN + " -b " + Loopback.OWN))) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.lastLine()).startsWith("custom");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.lastLine()).startsWith("client login from " + Loopback.OWN);
        }
    }

    @Test
    void udpongGivesUpIfNobodyAnswers() {
        tools.assertFails(1, "udpong --patience 1 -C 1 -p " + Loopback.PORT + " -s " + Loopback.OWN,
                "nothing came from the server for 1 s");
    }

    @Test
    void rcopyCopiesFiles(@TempDir Path folder) throws Exception {
        for (int size : new int[]{0, 1, 3_000_001}) {
            byte[] bytes = new byte[size];
            new Random(size).nextBytes(bytes);
            Path file = Files.write(folder.resolve("file" + size), bytes);
            Path copy = folder.resolve("copy" + size);
            try (Running server = Command.start("rcopy --once -b " + Loopback.OWN + AT_PORT)) {
                assertThat(copied(file, copy)).as(tools.err()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(server.text()).contains("opening: " + copy,
                        size == 0 ? ", closing" : size + " bytes", "done");
            }
            assertThat(tools.out()).contains(size + " bytes in ");
            assertThat(copy).hasBinaryContent(bytes);
        }
    }

    /** The server says nothing before it is ready: a client is refused until then. */
    private int copied(Path file, Path copy) {
        List<String> line = words("rcopy " + file + " " + Loopback.OWN + ":" + copy + AT_PORT);
        long startNs = System.nanoTime();
        int status = tools.run(line);
        while (status != 0 && tools.err().contains("Connection refused")
                && System.nanoTime() - startNs < Running.LONG.toNanos()) {
            status = tools.run(line);
        }
        return status;
    }

    @Test
    void fileThatCannotBeWrittenIsTold(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[10]);
        try (Running server = Command.start("rcopy --once -b " + Loopback.OWN + AT_PORT)) {
            assertThat(copied(file, folder.resolve("nowhere/copy"))).isEqualTo(1);
            assertThat(tools.err()).contains("the server has refused: ");
            assertThat(server.awaitEnd()).isZero();
            assertThat(server.text()).contains("unable to open destination file");
        }
    }

    /** A process that is killed says nothing over RoCE: no kernel speaks for it. */
    @Test
    @Tag("processes")
    void serverOfCopiesServesTheNextClientAfterOneThatWasKilled(@TempDir Path folder)
            throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[10]);
        Path copy = folder.resolve("copy");
        try (Running server = Command.start("rcopy --patience 1 -b " + Loopback.OWN + AT_PORT)) {
            try (Program client = silentPeer("client", "sent")) {
                client.end();
            }
            assertThat(copied(file, copy)).as(tools.err()).isZero();
            assertThat(copy).hasBinaryContent(new byte[10]);
            server.end();
            server.awaitEnd();
            assertThat(server.text()).contains("\n...Connection lost");
        }
    }

    @Test
    @Tag("processes")
    void clientOfCopiesDoesNotWaitForAServerThatWasKilled(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[10]);
        try (Program server = silentPeer("server", "listening");
                Running client = Command.start("rcopy --patience 1 " + file + " " + Loopback.OWN
                        + ":copy" + AT_PORT)) {
            server.lineWith("received");
            server.end();
            client.assertFails(1, "Connection lost");
        }
    }

    @Test
    void serverOfCopiesEndsWhenItCanAcceptNobodyAnyMore(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[10]);
        try (Running server = Command.start("rcopy -b " + Loopback.OWN + AT_PORT)) {
            assertThat(copied(file, folder.resolve("copy"))).as(tools.err()).isZero();
            // Closes the channel that it listens by.
            server.end();
            assertThat(server.awaitEnd()).isOne();
        }
    }

    private static Program silentPeer(String role, String ready) throws Exception {
        Program peer = Program.of(SilentCopyPeer.class, List.of(),
                List.of(role, Loopback.OWN, String.valueOf(Loopback.PORT)));
        peer.lineWith(ready);
        return peer;
    }

    @Test
    void wrongOptionsAreRefused() {
        tools.assertFails(2, "rstream -T x", "-T must be one of a, b, f, n, r, s and v, not 'x'");
        tools.assertFails(2, "rstream -S 0", "-S must be from 1 to ");
        tools.assertFails(2, "rstream -C -1 -I 1", "-C must be from 0 to ");
        tools.assertFails(2, "rstream -i 2000", "-i must be from 0 to 1024");
        tools.assertFails(2, "riostream -T s", "-T s is not possible here");
        tools.assertFails(2, "riostream -T fork", "-T f is not possible here");
        tools.assertFails(2, "udpong -S 15", "-S must be from 16 to 2040");
        tools.assertFails(2, "udpong -T x", "-T must be one of a, b, e, n and s, not 'x'");
        tools.assertFails(2, "rcopy /no/file", "SERVER is needed");
        tools.assertFails(2, "rcopy --patience 0", "--patience must be from 1 to ");
    }

    @Test
    void peerThatSaysNothingIsNotWaitedForWithoutEnd() throws Exception {
        try (Running server = Command
                .start("riostream -b " + Loopback.OWN + AT_PORT + " -I 1 --patience 60")) {
            server.lineWith("usec/xfer");
            // It waits for the end of a test that its peer, with fewer transfers, has not begun.
            tools.assertFails(1, "rstream -s " + Loopback.OWN + AT_PORT
                    + " -T b -I 1 -C 1 -S 100 --patience 1", "nothing came from the peer for 1 s");
        }
    }
}
