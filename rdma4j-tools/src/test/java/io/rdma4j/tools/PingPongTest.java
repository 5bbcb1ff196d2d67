// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The ping-pong tools as users call them: two sides on loopback, wrong options, wrong peers. Two threads play, but for one
 * run by two processes, those that lose packets, and peers that are killed.
 */
@ExtendWith({NothingStaysOpen.class, OwnAddress.class})
class PingPongTest {
    private static final List<String> TOOLS = List.of("ibv_rc_pingpong", "ibv_uc_pingpong",
            "ibv_ud_pingpong", "ibv_srq_pingpong");

    private final Invocation tools = new Invocation();

    private int run(String line) {
        return tools.run(line);
    }

    private void assertFails(int status, String line, String... words) {
        tools.assertFails(status, line, words);
    }

    private static Running start(Start how, String tool, String options, String... more)
            throws IOException {
        return startAsUsersDo(how, tool, "--no-perform_warm_up"
                + (options.isEmpty() ? "" : " " + options), more);
    }

    private static Running startAsUsersDo(Start how, String tool, String options, String... more)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of(tool, "-d", "roce_lo"));
        if (!options.isEmpty()) {
            arguments.addAll(Arrays.asList(options.split(" ", -1)));
        }
        arguments.addAll(List.of(more));
        return how.run(arguments);
    }

    private static Running start(String tool, String options, String... more) throws IOException {
        return start(Command::start, tool, options, more);
    }

    private static void play(String tool, String options) throws Exception {
        play(Command::start, tool, options + OwnAddress.by("-g"));
    }

    private static void play(Start how, String tool, String options) throws Exception {
        try (Running server = start(how, tool, options, "-p", "0")) {
            String port = server.port();
            try (Running client = start(how, tool, options, "-p", port, "127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(client.text())
                        .containsPattern("  local address:  LID 0x0000, QPN 0x[0-9a-f]{6},"
                                + " PSN 0x[0-9a-f]{6}[,:] GID ::ffff:127\\.")
                        .containsPattern("  remote address: LID 0x0000, QPN 0x[0-9a-f]{6},"
                                + " PSN 0x[0-9a-f]{6}, GID ::ffff:127\\.")
                        .containsPattern("\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d"
                                + " Mbit/sec\n\\d+ iters in \\d+\\.\\d\\d seconds ="
                                + " \\d+\\.\\d\\d usec/iter");
            }
        }
    }

    // ---------------------------------------------------------------- two that fit

    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, 0 1 1025 70000", "ibv_uc_pingpong, 0 1 1025 70000",
        "ibv_ud_pingpong, 0 1 1023 4096", "ibv_srq_pingpong, 1 1023 1025 70000"})
    void messagesOfManySizesArriveUnchanged(String tool, String sizes) throws Exception {
        for (String size : sizes.split(" ", -1)) {
            play(tool, "-c -n 20 -s " + size);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong",
        "ibv_srq_pingpong"})
    void sidesThatSleepAreWoken(String tool) throws Exception {
        play(tool, "-e -c -n 50");
    }

    /** Both sides reach each other by loopback, whatever the first device is. */
    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong"})
    void sidesThatNameNoDeviceTakeThatOfTheirConnection(String tool) throws Exception {
        String options = " -n 20 --no-perform_warm_up -p ";
        try (Running server = Command.start(tool + options + "0")) {
            String port = server.port();
            try (Running client = Command.start(tool + options + port + " 127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(List.of(client.text(), server.text())).allSatisfy(text -> assertThat(
                        text).containsPattern("  local address: .* GID ::ffff:127\\."));
            }
        }
    }

    /** A C client sends its address at once; that is where the server's choice becomes known, and its answer is the choice. */
    @Test
    void serverChoosesWhenItIsReachedAndAnswersAsInC() throws Exception {
        try (Running server = Command.start("ibv_rc_pingpong -n 1 --patience 1 -p 0")) {
            int port = Integer.parseInt(server.port());
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream().write(("0000:000011:000005:"
                        + "00000000000000000000ffff7f000001\0").getBytes(
                                StandardCharsets.US_ASCII));
                byte[] answer = socket.getInputStream().readNBytes(52);
                assertThat(new String(answer, StandardCharsets.US_ASCII)).matches(
                        "0000:[0-9a-f]{6}:[+0-9a-f]{6}:00000000000000000000ffff7f[0-9a-f]{6}\0");
            }
            server.awaitEnd();
        }
    }

    /** A Java side marks its addresses; the other warms up with it, or does not. */
    @ParameterizedTest
    @CsvSource({"ibv_uc_pingpong, -n 20 -e -c", "ibv_srq_pingpong, -n 20 -q 3 -c"})
    void sidesThatBothWantItWarmUpFirst(String tool, String options) throws Exception {
        String alone = options + OwnAddress.by("-g");
        try (Running server = startAsUsersDo(Command::start, tool, alone, "-p", "0")) {
            String port = server.port();
            try (Running client = startAsUsersDo(Command::start, tool, alone, "-p", port,
                    "127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(client.text()).contains("  warm-up:        ON\n", "20 iters in ");
                assertThat(server.text()).contains("  warm-up:        ON\n", "20 iters in ");
            }
        }
    }

    @Test
    void sideThatWarmsUpDoesNotMakeThePeerDoIt() throws Exception {
        try (Running server = startAsUsersDo(Command::start, "ibv_rc_pingpong", "-n 20 -p 0")) {
            String port = server.port();
            try (Running client = start("ibv_rc_pingpong", "-n 20", "-p", port, "127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(client.text()).contains("  warm-up:        OFF\n", "20 iters in ");
                assertThat(server.text()).contains("  warm-up:        OFF\n", "20 iters in ");
            }
        }
    }

    /** What is lost of the warm-up is no failure, and the warm-up ends. The one message that counts may be lost, too. */
    @Test
    @Tag("processes")
    void warmUpSurvivesLosses() throws Exception {
        Start lossy = arguments -> Program.withOptions(List.of("-Drdma4j.impair=loss=2%"),
                arguments.toArray(String[]::new));
        String options = "-n 1";
        try (Running server = startAsUsersDo(lossy, "ibv_ud_pingpong", options, "-p", "0")) {
            String port = server.port();
            try (Running client = startAsUsersDo(lossy, "ibv_ud_pingpong", options, "-p", port,
                    "127.0.0.1")) {
                client.awaitEnd();
                server.awaitEnd();
                for (Running side : List.of(client, server)) {
                    assertThat(side.text()).contains("  warm-up:        ON\n").containsAnyOf(
                            "1 iters in ",
                            "nothing came from the peer for 10 s, after 0 of 1 messages");
                }
            }
        }
    }

    @Test
    void twoProcessesPlay() throws Exception {
        play(Program::new, "ibv_rc_pingpong", "-e -c -n 50");
    }

    /** The last acknowledgements are lost as often as others; no side ends before the peer has them. */
    @ParameterizedTest
    @Tag("processes")
    @CsvSource({"ibv_rc_pingpong, -c -n 40", "ibv_srq_pingpong, -e -c -n 40"})
    void sidesThatLoseAFifthOfAllPacketsBothFinish(String tool, String options) throws Exception {
        play(arguments -> Program.withOptions(List.of("-Drdma4j.impair=loss=20%"),
                arguments.toArray(String[]::new)), tool, options);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-t", "-t -e -N", "-N -j -t", "-o -P", "-m 256 -r 2 -l 3",
        "-m 4096 -s 4097"})
    void optionsOfTheReliableToolWork(String options) throws Exception {
        play("ibv_rc_pingpong", "-c -n 20 " + options);
    }

    @Test
    void timestampsAreSummedUp() throws Exception {
        try (Running server = start("ibv_rc_pingpong", "-n 20 -t -p 0")) {
            String port = server.port();
            try (Running client = start("ibv_rc_pingpong", "-n 20 -t", "-p", port, "127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).containsPattern("Max receive completion clock cycles ="
                        + " \\d+\nMin receive completion clock cycles = \\d+\n"
                        + "Average receive completion clock cycles = \\d+\\.\\d{6}");
            }
            assertThat(server.awaitEnd()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-q 1 -r 1 -n 100", "-q 255 -n 300 -s 100", "-q 3 -r 4 -e -o"})
    void anyNumberOfQueuePairsSharesReceives(String options) throws Exception {
        play("ibv_srq_pingpong", "-c " + options);
    }

    @Test
    void atomicsReturnAndLeaveWhatTheyShould() throws Exception {
        String tool = "atomic_pingpong";
        try (Running server = startAsUsersDo(Command::start, tool, "-n 50 -p 0")) {
            String port = server.port();
            try (Running client = startAsUsersDo(Command::start, tool, "-n 70", "-p", port,
                    "127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).contains("210 atomics in ", "every result as expected",
                        "memory is as the peer's 150 atomics should leave it");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
        }
    }

    // ---------------------------------------------------------------- two that do not fit

    /** Starts a server and a client; both must fail, each by one line of its own. */
    private void assertBothFail(String server, String client, String serverWords,
            String clientWords) throws Exception {
        try (Running first = Command.start(patient(server) + " -d roce_lo -p 0")) {
            String port = first.port();
            try (Running second = Command.start(
                    patient(client) + " -d roce_lo -p " + port + " 127.0.0.1")) {
                assertThat(second.awaitEnd()).as(second.text()).isOne();
                assertThat(second.lastLine()).startsWith(client.split(" ", -1)[0] + ": ")
                        .contains(clientWords);
            }
            assertThat(first.awaitEnd()).as(first.text()).isOne();
            assertThat(first.lastLine()).startsWith(server.split(" ", -1)[0] + ": ")
                    .contains(serverWords);
        }
    }

    private static String patient(String command) {
        return command + " --no-perform_warm_up"
                + (command.contains("--patience") ? "" : " --patience 1");
    }

    /** Those that wait for the end of their patience sleep meanwhile. */
    @Test
    void sizesThatDifferFailOnBothSides() throws Exception {
        assertBothFail("ibv_rc_pingpong -s 100", "ibv_rc_pingpong -s 200",
                "Failed status local length error (1) for wr_id 1",
                "Failed status remote invalid request error (9) for wr_id 2");
        assertBothFail("ibv_rc_pingpong -s 200", "ibv_rc_pingpong -s 100",
                "the peer's messages have 100 bytes, those of this side 200", "");
        assertBothFail("ibv_uc_pingpong -e -s 100", "ibv_uc_pingpong -e -s 200",
                "nothing came from the peer for 1 s", "need the same tool, -s and -n");
        assertBothFail("ibv_ud_pingpong -e -s 200", "ibv_ud_pingpong -e -s 100",
                "the peer's messages have 100 bytes", "nothing came from the peer");
    }

    @Test
    void toolsThatDifferFailOnBothSides() throws Exception {
        // All retries take two seconds.
        assertBothFail("ibv_uc_pingpong -e", "ibv_rc_pingpong -e --patience 20",
                "nothing came from the peer",
                "Failed status transport retry counter exceeded (12) for wr_id 2");
        assertBothFail("ibv_srq_pingpong", "ibv_rc_pingpong", "Couldn't read remote address",
                "Couldn't read remote address");
    }

    /** As without a warm-up. */
    @Test
    void sizesThatDifferAreToldAfterAWarmUp() throws Exception {
        try (Running server = startAsUsersDo(Command::start, "ibv_rc_pingpong",
                "-s 100 -p 0")) {
            String port = server.port();
            try (Running client = startAsUsersDo(Command::start, "ibv_rc_pingpong",
                    "-s 200", "-p", port, "127.0.0.1")) {
                assertThat(client.awaitEnd()).as(client.text()).isOne();
                assertThat(server.awaitEnd()).as(server.text()).isOne();
                assertThat(server.lastLine())
                        .contains("Failed status local length error (1) for wr_id 1");
            }
        }
    }

    @Test
    void numbersThatDifferFail() throws Exception {
        assertBothFail("ibv_srq_pingpong -q 3", "ibv_srq_pingpong -q 5",
                "the peer has 5 queue pairs, this side 3; both need the same -q",
                "the peer hung up");
    }

    /** One of them polls meanwhile, the others sleep. */
    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, ''", "ibv_uc_pingpong, ' -e'", "ibv_ud_pingpong, ' -e'",
        "ibv_srq_pingpong, ' -e'"})
    void endOfThePeerEndsAServer(String tool, String options) throws Exception {
        assertServerEnds(Command::start, tool, options);
    }

    @Test
    @Tag("processes")
    void killedPeerEndsAServer() throws Exception {
        assertServerEnds(Program::new, "ibv_rc_pingpong", " -e");
    }

    /** The peer sleeps between messages, so that it can be interrupted. */
    private static void assertServerEnds(Start peer, String tool, String options)
            throws Exception {
        try (Running server = start(tool, "-p 0 -n 1000000 --patience 1" + options)) {
            String port = server.port();
            try (Running client = start(peer, tool, "-e -n 1000000", "-p", port, "127.0.0.1")) {
                client.lineWith("remote address");
            }
            assertThat(server.awaitEnd()).as(server.text()).isOne();
            assertThat(server.lastLine()).startsWith(tool + ": ");
        }
    }

    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, ''", "ibv_uc_pingpong, ' -e'", "ibv_ud_pingpong, ' -e'",
        "ibv_srq_pingpong, ' -e'"})
    void endOfThePeerEndsAClient(String tool, String options) throws Exception {
        assertClientEnds(Command::start, tool, options);
    }

    @Test
    @Tag("processes")
    void killedPeerEndsAClient() throws Exception {
        assertClientEnds(Program::new, "ibv_rc_pingpong", " -e");
    }

    private static void assertClientEnds(Start peer, String tool, String options)
            throws Exception {
        try (Running server = start(peer, tool, "-e -p 0 -n 1000000")) {
            String port = server.port();
            try (Running client = start(tool, "-n 1000000 --patience 1" + options, "-p", port,
                    "127.0.0.1")) {
                client.lineWith("remote address");
                server.end();
                assertThat(client.awaitEnd()).as(client.text()).isOne();
                assertThat(client.lastLine()).startsWith(tool + ": ");
            }
        }
    }

    @Test
    void nonsenseOnTheSideChannelIsRefused() throws Exception {
        try (Running server = start("ibv_rc_pingpong", "-p 0 --patience 2")) {
            int port = Integer.parseInt(server.port());
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream()
                        .write("x".repeat(52).getBytes(StandardCharsets.US_ASCII));
                assertThat(server.awaitEnd()).isOne();
            }
            assertThat(server.lastLine()).contains("the peer does not speak as a ping-pong does");
        }
        try (Running server = start("ibv_srq_pingpong", "-p 0 --patience 2")) {
            int port = Integer.parseInt(server.port());
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            assertThat(server.awaitEnd()).isOne();
            assertThat(server.lastLine()).contains("the peer hung up");
        }
        try (ServerSocket silent = new ServerSocket(0)) {
            assertFails(1, "ibv_ud_pingpong -d roce_lo --patience 1 -p " + silent.getLocalPort()
                    + " localhost", "the peer says nothing more for 1.0 s");
        }
    }

    @Test
    void clientWithoutServerFailsAtOnce() {
        for (String tool : TOOLS) {
            assertFails(1, tool + " -d roce_lo -p 1 127.0.0.1", tool + ": Couldn't connect to"
                    + " 127.0.0.1:1");
        }
        assertFails(1, "ibv_rc_pingpong -d roce_lo no.such.host.invalid",
                "unknown host 'no.such.host.invalid'");
    }

    @Test
    void portThatIsTakenIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            assertFails(1, "ibv_uc_pingpong -d roce_lo -p " + taken.getLocalPort(),
                    "Couldn't listen to port " + taken.getLocalPort());
        }
    }

    // ---------------------------------------------------------------- options

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong",
        "ibv_srq_pingpong", "ibv_asyncwatch", "show_gids"})
    void everyToolHasHelp(String tool) {
        assertThat(run(tool + " --help")).isZero();
        assertThat(tools.out()).contains("Usage: rdma4j " + tool);
    }

    @Test
    void wrongOptionsAreNamed() {
        assertFails(2, "ibv_rc_pingpong -O", "-O", "-o works");
        assertFails(2, "ibv_rc_pingpong -U", "-U", "not possible");
        assertFails(2, "ibv_rc_pingpong -o -j", "DM memory region can't be on demand");
        assertFails(2, "ibv_rc_pingpong -P", "prefetch is valid only with");
        assertFails(2, "ibv_uc_pingpong -o", "'-o'");
        assertFails(2, "ibv_ud_pingpong -m 1024", "'-m'");
        assertFails(2, "ibv_rc_pingpong -m 1500", "'1500' is no path MTU");
        assertFails(2, "ibv_rc_pingpong -s many", "'many' is not a whole number");
        assertFails(2, "ibv_rc_pingpong -s -1", "-s must be from 0");
        assertFails(2, "ibv_srq_pingpong -s 0", "-s must be from 1");
        assertFails(2, "ibv_srq_pingpong -q 256", "-q must be from 1 to 255");
        assertFails(2, "ibv_srq_pingpong -q 16 -r 15", "too small for 16 QPs");
        assertFails(2, "ibv_rc_pingpong -p 65536", "-p must be from 0 to 65535");
        assertFails(2, "ibv_rc_pingpong -n 0", "-n must be from 1");
        assertFails(2, "ibv_rc_pingpong one two", "two");
    }

    @Test
    void whatTheDeviceDoesNotHaveIsNamed() {
        assertFails(1, "ibv_rc_pingpong -d mlx5_0 -p 0", "mlx5_0", "roce_lo");
        assertFails(1, "ibv_rc_pingpong -d roce_lo -p 0 -g 100", "GID index 100 of roce_lo");
        assertFails(1, "ibv_rc_pingpong -d roce_lo -p 0 -i 2", "port");
        assertFails(1, "ibv_ud_pingpong -d roce_lo -p 0 -s 4097",
                "Requested size larger than port MTU (4096)");
    }

    @Test
    void numbersMayBeHexadecimal() throws Exception {
        play("ibv_rc_pingpong", "-s 0x100 -n 0x10");
        play("ibv_ud_pingpong", "--size=0x10 --iters=5 --chk --events --rx-depth=10");
    }

    @Test
    void gidsAreListed() {
        assertThat(run("show_gids roce_lo")).isZero();
        assertThat(tools.out())
                .startsWith("DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n")
                .containsPattern("roce_lo\t1\t\\d+\t0000:0000:0000:0000:0000:ffff:7f[0-9a-f:]{7}"
                        + "\t" + Pattern.quote(Loopback.OWN) + "  \tv2\tlo\n")
                .containsPattern("n_gids_found=[1-9]");
        assertFails(1, "show_gids mlx5_0", "mlx5_0", "roce_lo");
    }

    @Test
    void deviceIsWatchedUntilTheToolIsStopped() throws Exception {
        try (Running watch = startAsUsersDo(Command::start, "ibv_asyncwatch", "")) {
            assertThat(watch.lineWith("async event FD")).startsWith("roce_lo: ");
        }
        assertFails(1, "ibv_asyncwatch -d mlx5_0", "mlx5_0", "roce_lo");
    }
}
