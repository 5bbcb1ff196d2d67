// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The connection manager's tools as users call them: two sides, wrong options, wrong peers. They are two threads, but for
 * one run by two processes, and peers that are killed.
 */
@ExtendWith(NothingStaysOpen.class)
class RdmaCmToolsTest {
    private static final String ADDRESS = Loopback.OWN;
    private static final String GROUP = Loopback.OWN.replaceFirst("127", "239");
    private static final String OTHER_GROUP = Loopback.OTHER.replaceFirst("127", "239");
    private static final int ROCE_PORT = 4791;

    private static final String AT_PORT = " -p " + Loopback.PORT;
    private static final String AT_ADDRESS = "-a " + ADDRESS + AT_PORT;

    private final Invocation tools = new Invocation();

    private static Running start(String line) throws Exception {
        return Command.start(line);
    }

    private static Running process(String line) throws Exception {
        return new Program(words(line));
    }

    private static List<String> words(String line) {
        return List.of(line.split(" ", -1));
    }

    private void assertRefused(String line, String... words) {
        tools.assertFails(2, line, words);
    }

    private static String server(String tool) {
        return tool + " -b " + ADDRESS + port(tool);
    }

    private static String client(String tool) {
        return tool + " -s " + ADDRESS + port(tool);
    }

    /** {@return the option for a port of this build} That of udaddy is fixed. */
    private static String port(String tool) {
        return "udaddy".equals(tool) ? "" : AT_PORT;
    }

    private static void play(String tool, String options) throws Exception {
        play(Command::start, tool, options);
    }

    private static void play(Start how, String tool, String options) throws Exception {
        try (Running server = how.run(words(server(tool) + " " + options))) {
            server.lineWith(": starting server");
            try (Running client = how.run(words(client(tool) + " " + options))) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).contains("data transfers complete",
                        "test complete\nreturn status 0");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.text()).contains("data transfers complete",
                    "test complete\nreturn status 0");
        }
    }

    // ---------------------------------------------------------------- two that fit

    @Test
    void processesExchangeMessages() throws Exception {
        play(Program::new, "ucmatose", "-c 2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-S 1", "-S 70000 -C 3", "-c 20 -C 5", "-m -c 3", "-a 18 -t 8",
        "-P ib", "-f ip", "-C 0x10"})
    void ucmatoseExchangesMessages(String options) throws Exception {
        play("ucmatose", options);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucmatose -C 0", "ucmatose -S 0", "udaddy -C 0", "udaddy -S 0"})
    void noMessagesAreFineAsWell(String line) throws Exception {
        List<String> words = List.of(line.split(" ", 2));
        try (Running server = start(server(words.get(0)) + " " + words.get(1))) {
            server.lineWith(": starting server");
            try (Running client = start(client(words.get(0)) + " " + words.get(1))) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).doesNotContain("data transfers");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-S 1", "-S 1024 -C 3", "-c 2", "-c 20 -C 5", "-p 0x111 -P udp -t 8"})
    void udaddyExchangesDatagrams(String options) throws Exception {
        play("udaddy", options);
    }

    /** At once, for a sender waits three seconds for switches to learn of the group. */
    @Test
    void mckeySendsToAllReceiversAsMemberOrNot() throws Exception {
        try (Running first = receiver(GROUP);
                Running second = receiver(GROUP);
                Running other = receiver(OTHER_GROUP);
                Running member = sender(GROUP, "-s");
                Running guest = sender(OTHER_GROUP,
                        "-s -o")) {
            for (Running sender : List.of(member, guest)) {
                assertThat(sender.awaitEnd()).as(sender.text()).isZero();
                assertThat(sender.text()).contains("mckey: starting client",
                        "test complete\nreturn status 0");
            }
            assertThat(member.text())
                    .contains("mckey: joined dgid: ::ffff:" + GROUP + " mlid 0x0 sl 0");
            for (Running receiver : List.of(first, second, other)) {
                assertThat(receiver.awaitEnd()).as(receiver.text()).isZero();
                assertThat(receiver.text()).contains("data transfers complete");
            }
        }
    }

    private static Running receiver(String group) throws Exception {
        Running receiver = start("mckey -m " + group + " -c 3 -S 1000 -b " + ADDRESS);
        receiver.lineWith("receiving data transfers");
        return receiver;
    }

    private static Running sender(String group, String options) throws Exception {
        return start("mckey -m " + group + " -S 1000 -b " + Loopback.OTHER + " " + options);
    }

    @Test
    void cmtimeTakesTheTimeOfEachStepFromOneClientAfterTheOther() throws Exception {
        try (Running server = start(server("cmtime"))) {
            server.lineWith("listening");
            for (String options : List.of("-c 1", "--no-perform_warm_up -c 64")) {
                try (Running client = start(client("cmtime") + " " + options)) {
                    assertThat(client.awaitEnd()).as(client.text()).isZero();
                    assertThat(client.text().contains("warming up\ncreating id\n"))
                            .isEqualTo("-c 1".equals(options));
                    assertThat(client.text())
                            .contains("step              total ms     max ms     min us  us / conn")
                            .containsPattern("connect      :( +\\d+\\.\\d\\d){4}\n")
                            .containsPattern("destroy      :( +\\d+\\.\\d\\d){4}$")
                            .doesNotContain("bind addr");
                }
            }
        }
    }

    @Test
    void cmtimeTakesTheTimeOfSockets() throws Exception {
        try (Running server = start("cmtime -S -c 20 -p 0 -B lo")) {
            String port = server.lineWith("listening").replaceAll("\\D", "");
            try (Running client = start("cmtime -S -c 20 -b 127.0.0.1 -s 127.0.0.1 -p " + port)) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text())
                        .contains("step              total ms     max ms     min us  us / conn")
                        .containsPattern("bind addr    :( +\\d+\\.\\d\\d){4}\n")
                        .containsPattern("connect      :( +\\d+\\.\\d\\d){4}\n")
                        .containsPattern("destroy      :( +\\d+\\.\\d\\d){4}$");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.text()).containsPattern("connect      :( +\\d+\\.\\d\\d){4}\n");
        }
    }

    @Test
    void cmtimeOfSocketsNamesWhatDoesNotFit() throws Exception {
        try (Running server = start("cmtime -S -c 3 -p 0 --patience 1")) {
            String port = server.lineWith("listening").replaceAll("\\D", "");
            try (Running client = start("cmtime -S -c 2 -s 127.0.0.1 -p " + port)) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
            }
            server.assertFails(1, "2 of 3 connections are accepted: both sides need the same -c");
        }
        try (Running client = start("cmtime -S -s 127.0.0.1 -p 9")) {
            client.assertFails(1, "cmtime: cannot connect to 127.0.0.1 port 9: ");
        }
        try (Running server = start("cmtime -B no0")) {
            server.assertFails(1, "cmtime: there is no network interface 'no0'");
        }
    }

    @ParameterizedTest
    @CsvSource({"'', -q", "-q, ''", "-q, -q -d", "-d, -S 23"})
    void rpingWorksWithQueuePairsOfItsOwn(String serverOptions, String clientOptions)
            throws Exception {
        try (Running server = start(("rping -s -v " + AT_ADDRESS + " " + serverOptions)
                .strip())) {
            server.lineWith("listening");
            try (Running client = start(("rping -c -V -v -C 5 " + AT_ADDRESS + " "
                    + clientOptions).strip())) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).contains("ping data: rdma-ping-4: ");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.text()).contains("server DISCONNECT EVENT...");
        }
    }

    @Test
    void persistentRpingServesManyAtOnce() throws Exception {
        try (Running server = start("rping -s -P -v " + AT_ADDRESS)) {
            server.lineWith("listening");
            List<Running> clients = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                clients.add(start("rping -c -V -C 50 " + AT_ADDRESS));
            }
            for (Running client : clients) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
            }
        }
    }

    // ---------------------------------------------------------------- two that do not fit

    @ParameterizedTest
    @CsvSource({"ucmatose, -S 100, -S 1000", "ucmatose, -S 1000, -S 100",
        "udaddy, -S 100, -S 200", "ucmatose, -C 10, -C 20"})
    void mismatchesAreErrorsOfBothSides(String tool, String ofServer,
            String ofClient) throws Exception {
        try (Running server = start(server(tool) + " --patience 1 " + ofServer)) {
            server.lineWith(": starting server");
            try (Running client = start(client(tool) + " --patience 1 " + ofClient)) {
                assertThat(client.awaitEnd()).as(client.text()).isNotZero();
                assertThat(client.text()).containsPattern(tool + ": .*(same -S|same -C|peer)");
            }
            assertThat(server.awaitEnd()).as(server.text()).isNotZero();
            assertThat(server.text()).containsPattern(tool + ": .*(same -S|same -C|peer)");
        }
    }

    @Test
    void messagesTheClientDoesNotExpectAreAnError() throws Exception {
        try (Running server = start(server("ucmatose") + " --patience 1 -C 20")) {
            server.lineWith(": starting server");
            try (Running client = start(client("ucmatose") + " --patience 1 -C 10")) {
                client.awaitEnd();
            }
            server.assertFails(1, "RNR_RETRY_EXCEEDED_ERROR; both sides need the same -C");
        }
    }

    @Test
    void moreConnectionsThanTheServerWantsAreRejected() throws Exception {
        try (Running server = start(server("ucmatose") + " --patience 1 -c 1")) {
            server.lineWith(": starting server");
            try (Running client = start(client("ucmatose") + " --patience 1 -c 2")) {
                assertThat(client.awaitEnd()).as(client.text()).isNotZero();
            }
            server.awaitEnd();
            assertThat(server.text()).contains("test complete");
        }
    }

    @Test
    void fewerConnectionsThanTheServerWantsEndItsPatience() throws Exception {
        try (Running server = start(server("ucmatose") + " --patience 1 -c 2")) {
            server.lineWith(": starting server");
            try (Running client = start(client("ucmatose") + " --patience 8 -c 1")) {
                assertThat(client.awaitEnd()).as(client.text()).isNotZero();
            }
            server.assertFails(1, "1 of 2 connections are connected", "return status -110");
        }
    }

    /**
     * A peer that ends while it waits for another client, so that nothing is under way. No word tells a side of datagrams
     * that the other has ended, so for those a thread is as good as a process.
     */
    @Test
    void endOfThePeerEndsTheClient() throws Exception {
        assertClientEnds(Program::new, "ucmatose");
        assertClientEnds(Command::start, "udaddy");
    }

    private static void assertClientEnds(Start peer, String tool) throws Exception {
        try (Running server = peer.run(words(server(tool) + " --patience 60 -c 2"))) {
            server.lineWith(": starting server");
            try (Running client = start(client(tool) + " --patience 1 -c 1")) {
                client.lineWith("receiving data transfers");
                server.end();
                assertThat(client.awaitEnd()).as(client.text()).isNotZero();
                assertThat(client.text()).contains(tool + ": ").doesNotContain("Exception");
            }
        }
    }

    @Test
    void endOfThePeerEndsTheServer() throws Exception {
        assertServerEnds(Program::new, "ucmatose");
        assertServerEnds(Command::start, "udaddy");
    }

    private static void assertServerEnds(Start peer, String tool) throws Exception {
        try (Running server = start(server(tool) + " --patience 1 -c 2")) {
            server.lineWith(": starting server");
            try (Running client = peer.run(words(client(tool) + " --patience 60 -c 1"))) {
                client.lineWith("receiving data transfers");
            }
            // The last word of its connection may have died with it.
            server.assertFails(1, " of 2 connections are connected");
        }
    }

    @ParameterizedTest
    @Tag("processes")
    @ValueSource(strings = {"", " -q"})
    void killedRpingEndsTheOtherSide(String options) throws Exception {
        try (Running server = start("rping -s -v --patience 1 " + AT_ADDRESS + options)) {
            server.lineWith("listening");
            try (Running client = process("rping -c -v " + AT_ADDRESS + options)) {
                client.lineWith("rdma-ping-3");
            }
            server.assertFails(1, "rping: ");
        }
        try (Running server = process("rping -s -v " + AT_ADDRESS + options)) {
            server.lineWith("listening");
            try (Running client = start("rping -c -v --patience 1 " + AT_ADDRESS
                    + options)) {
                client.lineWith("rdma-ping-3");
                server.end();
                client.assertFails(1, "rping: ");
            }
        }
    }

    /** Servers that are ended while they have clients. */
    @ParameterizedTest
    @ValueSource(
            strings = {"cmtime -b", "rping -s -v -P -a", "rping -s -v -q -P -a"})
    void interruptedServerLeavesNoDeviceOpen(String line) throws Exception {
        try (Running server = start(line + " " + ADDRESS + AT_PORT)) {
            server.lineWith("listening");
            try (Running client = start("rping -c -d " + AT_ADDRESS)) {
                client.lineWith("rdma_connect successful");
                server.end();
            }
        }
        // No other program can bind to it while a device is open.
        try (DatagramSocket alone = new DatagramSocket(new InetSocketAddress(ADDRESS, ROCE_PORT))) {
            assertThat(alone.isBound()).isTrue();
        }
    }

    /** A silent holder of the port is waited for; if no program has it, the system says so. */
    @Test
    void cmtimeGivesUpWhenNobodyAnswers() throws Exception {
        try (DatagramSocket silent = new DatagramSocket(
                new InetSocketAddress(Loopback.OTHER, ROCE_PORT));
                Running client = start(
                        "cmtime --no-perform_warm_up -c 2 --patience 1 -s " + Loopback.OTHER)) {
            assertThat(silent.isBound()).isTrue();
            client.assertFails(1, "cmtime: nothing came from the server for 1 s; 2 of 2"
                    + " connections wait for connect");
        }
    }

    @Test
    void cmtimeEndsWhereNobodyIs() throws Exception {
        try (Running client = start(
                "cmtime --no-perform_warm_up -c 2 --patience 30 -s " + Loopback.OTHER)) {
            client.assertFails(1, "cmtime: event: RDMA_CM_EVENT_UNREACHABLE, error: -111:"
                    + " no process has the port at the peer's address");
        }
    }

    @Test
    void rpingWithTooSmallAServerEndsBothSides() throws Exception {
        try (Running server = start("rping -s -v -S 64 " + AT_ADDRESS)) {
            server.lineWith("listening");
            try (Running client = start("rping -c -C 5 -S 65 " + AT_ADDRESS)) {
                client.assertFails(1, "rping: ", "the peer disconnected too early");
            }
            server.assertFails(1, "the client's pings have 65 bytes");
        }
    }

    @ParameterizedTest
    @CsvSource({"ucmatose -s 127.0.0.1 -p 9, 1, RDMA_CM_EVENT_REJECTED",
        "udaddy -s 127.0.0.1, 1, RDMA_CM_EVENT_UNREACHABLE",
        "cmtime -s 127.0.0.1 -p 9, 1, RDMA_CM_EVENT_REJECTED",
        "rping -c -a 127.0.0.1 -p 9, 1, rejected (8: invalid service ID: no process listens",
        "ucmatose -s no.such.host.invalid, 1, unknown host",
        "udaddy -s no.such.host.invalid, 1, unknown host",
        "mckey -m no.such.host.invalid, 1, unknown host",
        "mckey -m 10.0.0.1, 1, no multicast address",
        "mckey -m 239.7.7.7 -S 5000 -b 127.0.0.1, 1, larger than active mtu"})
    void whatCannotBeReachedIsNamed(String line, int status, String words) throws Exception {
        try (Running program = start(line)) {
            program.assertFails(status, words);
        }
    }

    @Test
    void nobodySendsToTheGroup() throws Exception {
        try (Running receiver = start("mckey --patience 1 -m " + OTHER_GROUP + " -b " + ADDRESS)) {
            receiver.assertFails(1, "nothing came from the peer for 1 s",
                    "0 of 10 messages were received");
        }
    }

    // ---------------------------------------------------------------- wrong options

    @Test
    void optionsThatMakeNoSenseAreRefusedByName() {
        assertRefused("ucmatose -f gid", "-f gid is not possible");
        assertRefused("ucmatose -f who", "-f must be");
        assertRefused("ucmatose -P ipoib -c 0", "-c must be from 1");
        assertRefused("ucmatose -P udp", "-P must be tcp or ib");
        assertRefused("ucmatose -a 32", "-a must be from 0 to 31");
        assertRefused("ucmatose -t 256", "-t must be from 0 to 255");
        assertRefused("ucmatose -S -1", "-S must be from 0");
        assertRefused("ucmatose -C many", "'many' is not a whole number");
        assertRefused("udaddy -P ipoib", "-P ipoib is not possible");
        assertRefused("udaddy -p 2", "-p 0x2 is not possible");
        assertRefused("udaddy -p 7174", "-p must be 0x111");
        assertRefused("mckey", "-m, the multicast address, is needed");
        assertRefused("mckey -M ff0e::1 -b 127.0.0.1", "-M is not possible");
        assertRefused("mckey -m 239.1.1.1 -p 2", "-p 0x2 is not possible");
        assertRefused("cmtime -C 10.0.0.1", "-C", "not possible");
        assertRefused("cmtime -b 127.0.0.1 -B lo", "-b and -B");
        assertRefused("cmtime -m 5", "-q, -m and -n are not possible");
        assertRefused("cmtime -r 8", "-r must be from 0 to 7");
        assertRefused("rping -c --patience 0", "--patience must be from 1");
        assertRefused("rping -s -S 65536", "-S must be from 23 to 65535");
    }
}
