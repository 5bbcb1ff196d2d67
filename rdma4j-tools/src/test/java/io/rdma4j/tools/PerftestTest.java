// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * perftest's tools as users call them: two sides on loopback, wrong options, wrong peers. One run is by two processes,
 * the others are by two threads.
 */
@ExtendWith({NothingStaysOpen.class, OwnAddress.class})
class PerftestTest {
    private static final String NUMBER = "\\d+\\.\\d\\d";
    private static final String BANDWIDTH = NUMBER + " +" + NUMBER + "\\s+\\d+\\.\\d{6}";
    private static final String LATENCY = NUMBER + "(\\s+" + NUMBER + "){6}";

    private final Invocation tools = new Invocation();

    @TempDir
    private Path directory = Path.of("");

    private void assertFails(int status, String line, String... words) {
        tools.assertFails(status, line, words);
    }

    // ---------------------------------------------------------------- two that fit

    @ParameterizedTest
    @CsvSource({"ib_write_bw, 1 65536", "ib_read_bw, 1 65536", "ib_send_bw, 1 65536"})
    void bandwidthOfMessagesOfManySizesIsTheSameOnBothSides(String tool, String sizes)
            throws Exception {
        for (String size : sizes.split(" ", -1)) {
            String line = " " + size + " +20 +" + BANDWIDTH;
            assertThat(Perftest.measure(tool, "-n 20 -s " + size))
                    .allSatisfy(text -> assertThat(text)
                            .contains("#bytes     #iterations    BW peak[MB/sec]")
                            .containsPattern(line));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_write_lat", "ib_read_lat", "ib_send_lat"})
    void latencyIsTold(String tool) throws Exception {
        for (String size : List.of("1", "5000")) {
            assertThat(Perftest.measure(tool, "-n 20 -s " + size).getLast())
                    .contains("#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]")
                    .containsPattern(" " + size + " +20 +" + LATENCY);
        }
    }

    /** Both sides reach each other by loopback, whatever the first device is. */
    @ParameterizedTest
    @ValueSource(strings = {"ib_write_bw", "ib_send_lat"})
    void sidesThatNameNoDeviceTakeThatOfTheirConnection(String tool) throws Exception {
        String options = "-F -n 20 --no-perform_warm_up";
        assertThat(Perftest.runBoth(Command::start, tool, options, options))
                .allSatisfy(text -> assertThat(text).containsPattern("Device +: roce_lo\\b")
                        .containsPattern("GID: 00:.*:255:255:127:"));
    }

    @Test
    void twoProcessesMeasure() throws Exception {
        assertThat(Perftest.measure(Program::new, "ib_write_lat", "-n 50").getLast())
                .containsPattern(" 50 +\\d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-A FETCH_AND_ADD", "-A CMP_AND_SWAP", "-e", "-o 1"})
    void atomicsAreMeasured(String options) throws Exception {
        assertThat(Perftest.measure("ib_atomic_bw", "-n 20 " + options))
                .allSatisfy(text -> assertThat(text).containsPattern(" 8 +20 +" + BANDWIDTH));
        assertThat(Perftest.measure("ib_atomic_lat", "-n 20 " + options).getLast())
                .containsPattern(" 8 +20 +" + LATENCY);
    }

    @ParameterizedTest
    @CsvSource({"ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw"})
    void bothWaysAndManyQueuePairsAndListsGoTogether(String tool) throws Exception {
        String size = "ib_atomic_bw".equals(tool) ? "" : " -s 3000";
        for (String options : List.of("-b -q 2 -l 5 -t 10", "-b -e",
                "-q 3 -Q 7 -t 9 -N")) {
            assertThat(Perftest.measure(tool, "-n 20" + size + " " + options))
                    .allSatisfy(text -> assertThat(text).contains("Number of qps")
                            .containsPattern(" [246]0 +" + BANDWIDTH));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_write_bw", "ib_send_bw", "ib_write_lat", "ib_send_lat"})
    void unreliableConnectionsAreMeasured(String tool) throws Exception {
        assertThat(Perftest.measure(tool, "-c UC -n 50 -s 2000").getLast())
                .contains("Connection type : UC").containsPattern(" 2000 +50 +" + NUMBER)
                .doesNotContain(":127:00:00:01");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_send_bw", "ib_send_lat"})
    void datagramsAreMeasured(String tool) throws Exception {
        assertThat(Perftest.measure(tool, "-c UD -n 50 -s 1000").getLast())
                .containsPattern(" 1000 +50 +" + NUMBER);
    }

    @Test
    void allSizesAreGoneThrough() throws Exception {
        assertThat(Perftest.measure("ib_write_bw", "-a -n 5").getLast()).containsPattern(" 2 +5 ")
                .containsPattern(" 8388608 +5 ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_send_bw -c UD", "ib_send_bw -c UD -b", "ib_send_lat -c UD"})
    void allSizesThatFitAreGoneThrough(String call) throws Exception {
        String[] words = call.split(" ", 2);
        String more = words.length > 1 ? " " + words[1] : "";
        assertThat(Perftest.measure(words[0], "-a -n 5" + more).getLast())
                .containsPattern(" 2 +5 ").containsPattern(" 4096 +5 ")
                .doesNotContain(" 8192 ");
    }

    @ParameterizedTest
    @CsvSource({"ib_send_bw -b, BW average", "ib_send_lat, tps average"})
    void timeCanBeGivenInsteadOfANumber(String call, String column) throws Exception {
        assertTakesATime(call, column);
    }

    @ParameterizedTest
    @CsvSource({"ib_read_bw -b, BW average", "ib_write_lat, tps average",
        "ib_read_lat, tps average"})
    @Tag("long")
    void timeCanBeGivenToTheOthers(String call, String column) throws Exception {
        assertTakesATime(call, column);
    }

    private static void assertTakesATime(String call, String column) throws Exception {
        String[] words = call.split(" ", 2);
        String more = words.length > 1 ? " " + words[1] : "";
        assertThat(Perftest.measure(words[0], "-D 1 -f 0 -s 512" + more).getLast()).contains(column)
                .containsPattern(" 512 +[1-9]\\d* +\\d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_read_bw", "ib_send_bw", "ib_read_lat", "ib_send_lat"})
    void sidesThatSleepAreWoken(String tool) throws Exception {
        assertThat(Perftest.measure(tool, "-e -n 20 -s 100").getLast())
                .containsPattern(" 100 +20 ");
    }

    @Test
    void inlineMessagesAndOtherMtusAreMeasured() throws Exception {
        assertThat(Perftest.measure("ib_send_lat", "-I 128 -s 100 -n 50 -m 256").getLast())
                .contains("Max inline data : 128[B]", "Mtu             : 256[B]");
    }

    private static long counted(DeviceContext device, String counter) {
        return Objects.requireNonNull(device.counters().get(counter), counter);
    }

    /** The average length of the packets shows it. */
    @Test
    void connectionsOfTheConnectionManagerHaveThePathMtuThatIsAskedFor() throws Exception {
        try (DeviceContext device = RdmaDevices.find("roce_lo").open()) {
            long packets = counted(device, "sent_pkts");
            long bytes = counted(device, "sent_bytes");
            Perftest.measure("ib_write_bw", "-R -m 256 -s 65536 -n 10");
            long average = (counted(device, "sent_bytes") - bytes)
                    / (counted(device, "sent_pkts") - packets);
            assertThat(average).isLessThan(256 + 64);
        }
    }

    @Test
    void allTimesCanBePrinted() throws Exception {
        assertThat(Perftest.measure("ib_send_lat", "-H -n 20").getLast()).contains("#, usec")
                .containsPattern("\n19, \\d+\\.\\d{3}\n");
        assertThat(Perftest.measure("ib_send_lat", "-U -n 20").getLast())
                .containsPattern("\n1, \\d+\\.\\d{3}\n2, ").containsPattern("\n19, ");
    }

    @Test
    void reportsGoToAJsonFileAndBandwidthCanBeInGigabits() throws Exception {
        Path file = directory.resolve("report.json");
        assertThat(Perftest.measure("ib_write_bw",
                "-n 10 --report_gbits --out_json --out_json_file " + file).getLast())
                .contains("BW peak[Gb/sec]");
        assertThat(file).content().startsWith("{\"test_info\":{\"test\":\"RDMA_Write_BW_Test\"")
                .contains("\"Device\":\"roce_lo\"")
                .containsPattern("\"results\":\\{\"MsgSize\":65536,\"n_iterations\":10,");
        assertThat(Files.size(file)).isPositive();
    }

    @ParameterizedTest
    @CsvSource({"ib_write_bw, -q 3 -n 50", "ib_read_lat, -n 20", "ib_send_bw, -b -n 50",
        "ib_send_lat, -e -n 20", "ib_atomic_bw, -n 50", "ib_send_bw, -c UD -q 2 -n 50",
        "ib_send_bw, -c UD -b -n 50", "ib_send_lat, -c UD -n 20", "ib_send_lat, -c UD -e -n 20"})
    void connectionManagerConnects(String tool, String options) throws Exception {
        assertThat(Perftest.measure(tool, "-R " + options)).allSatisfy(
                side -> assertThat(side).containsPattern("rdma_cm QPs +: ON"));
    }

    /** A device has addresses of both IP versions, and the client's choice decides. */
    @ParameterizedTest
    @Tag("processes")
    @ValueSource(strings = {"roce_lo", "iwarp_lo"})
    void connectionManagerConnectsADeviceByIpv6(String device) throws Exception {
        String address = "::1";
        assumeThat(NetworkInterface.getByInetAddress(InetAddress.ofLiteral(address)))
                .as("an interface with " + address).isNotNull();
        String options = "-R -F -n 20 --no-perform_warm_up -d " + device;
        try (Running server = Perftest.startAsUsersDo(Program::new, "ib_read_bw", options, "-p",
                "0")) {
            String port = server.port();
            try (Running client = Perftest.startAsUsersDo(Program::new, "ib_read_bw", options, "-p",
                    port,
                    address)) {
                int clients = client.awaitEnd();
                if (clients != 0) {
                    server.end();
                }
                int servers = server.awaitEnd();
                String texts = "server: " + server.text() + "\nclient: " + client.text();
                assertThat(clients).as(texts).isZero();
                assertThat(servers).as(texts).isZero();
            }
        }
    }

    @Test
    void clientThatComesByTheConnectionManagerFindsNobodyWhoUsesTcp() throws Exception {
        try (Running server = Perftest.start(Command::start, "ib_write_bw", "-p 0")) {
            assertFails(1,
                    "ib_write_bw -d roce_lo -R -p " + server.port() + " " + Loopback.OWN,
                    "Couldn't connect to " + Loopback.OWN, "ECONNREFUSED");
        }
    }

    // ---------------------------------------------------------------- wrong options

    @Test
    void optionsThatMakeNoSenseAreRefusedByName() {
        assertFails(2, "ib_send_bw -R -c UC", "-R (--rdma_cm)", "RC", "UD", "UC");
        assertFails(2, "ib_write_bw -z", "-z");
        assertFails(2, "ib_send_bw -g 1", "-M and -g");
        assertFails(2, "ib_send_bw -M 239.1.2.3", "-M and -g");
        assertFails(2, "ib_write_bw -O", "'-O'");
        assertFails(2, "ib_write_lat -q 2", "'-q'");
        assertFails(2, "ib_send_lat -b", "'-b'");
        assertFails(2, "ib_write_bw -H", "'-H'");
        assertFails(2, "ib_write_lat -e", "-e", "memory is polled");
        assertFails(2, "ib_read_bw -c UC", "-c UC", "READ");
        assertFails(2, "ib_write_bw -c UD", "-c UD", "WRITE");
        assertFails(2, "ib_write_bw -c XRC", "-c XRC", "RC, UC and UD");
        assertFails(2, "ib_atomic_bw -s 16", "-s", "8 bytes");
        assertFails(2, "ib_atomic_bw -a", "-a", "8 bytes");
        assertFails(2, "ib_write_bw -A CMP_AND_SWAP", "-A");
        assertFails(2, "ib_atomic_bw -A FETCH", "--atomic_type", "CMP_AND_SWAP");
        assertFails(2, "ib_write_bw -o 1", "-o");
        assertFails(2, "ib_read_bw -r 1", "-r");
        assertFails(2, "ib_read_bw -I 8", "-I");
        assertFails(2, "ib_atomic_lat -I 8", "-I");
    }

    @Test
    void valuesThatMakeNoSenseAreRefusedByName() {
        assertFails(2, "ib_write_bw -n 4", "-n", "from 5");
        assertFails(2, "ib_write_bw -s 0", "-s", "from 1");
        assertFails(2, "ib_write_bw -s 8388609", "-s", "to 8388608");
        assertFails(2, "ib_write_bw -m 1000", "-m", "1024");
        assertFails(2, "ib_write_bw -m 99999999999", "-m", "1024");
        assertFails(2, "ib_write_bw -q 0", "-q");
        assertFails(2, "ib_write_bw -t 0", "-t");
        assertFails(2, "ib_write_bw -p 70000", "-p");
        assertFails(2, "ib_write_bw -l 7 -n 20", "-n must be a multiple of -l");
        assertFails(2, "ib_write_bw -l 256 -n 512", "-l must not be larger than -t");
        assertFails(2, "ib_write_bw -l 10 -n 100 -Q 3", "-l must be a multiple of -Q");
        assertFails(2, "ib_write_bw -D 5 -n 100", "-D and -n");
        assertFails(2, "ib_write_bw -D 5 -a", "-D", "-a");
        assertFails(2, "ib_read_bw -D 5 -e", "-D", "-e");
        assertFails(2, "ib_write_bw -D 4 -f 2", "-f");
        assertFails(2, "ib_write_bw -f 2", "-f");
        assertFails(2, "ib_write_bw -a -s 2", "-a and -s");
    }

    // ---------------------------------------------------------------- wrong peers

    @Test
    void nobodyThereIsToldAtOnce() throws Exception {
        int free;
        try (ServerSocket listener = new ServerSocket(0)) {
            free = listener.getLocalPort();
        }
        assertFails(1, "ib_write_bw -d roce_lo -p " + free + " 127.0.0.1", "Couldn't connect");
    }

    @Test
    void peerThatSaysNothingOrNonsenseIsGivenUp() throws Exception {
        assertServerGivesUp("", "nothing came from the peer for 1 s");
        assertServerGivesUp("GET / HTTP/1.1\r\n\r\n", "does not speak as perftest");
        assertServerGivesUp("4.0\0\0\0\0\0\0\0\0\0\0\0\0\0", "version of perftest is 4.0");
    }

    private static void assertServerGivesUp(String said, String words) throws Exception {
        try (Running server = Perftest.start(Command::start, "ib_write_bw", "--patience 1 -p 0");
                Socket client = new Socket(InetAddress.getLoopbackAddress(),
                        Integer.parseInt(server.port()))) {
            client.getOutputStream().write(said.getBytes(StandardCharsets.US_ASCII));
            assertThat(server.awaitEnd()).isEqualTo(1);
            assertThat(server.lastLine()).contains(words);
        }
    }

    @ParameterizedTest
    @CsvSource({"ib_send_bw, -n 100, -n 50", "ib_send_lat, -s 8, -s 16",
        "ib_write_bw, -q 1, -q 2", "ib_send_bw, -a, -N",
        "ib_write_bw, -R -q 1, -R -q 2", "ib_send_bw, -R -e -n 100, -R -e -n 50",
        "ib_send_lat, -R -c UD, -R -c RC", "ib_send_bw, -R -c UD -e -b, -R -c UD -e"})
    void sidesThatDoNotFitBothEndWithOneLine(String tool, String servers, String clients)
            throws Exception {
        try (Running server = Perftest.start(Command::start, tool,
                servers + " --patience 1 -p 0")) {
            String port = server.port();
            try (Running client = Perftest.start(Command::start, tool, clients + " --patience 1",
                    "-p", port,
                    Loopback.OWN)) {
                client.awaitEnd();
                assertThat(server.awaitEnd()).as(server.text()).isEqualTo(1);
                assertThat(server.lastLine()).startsWith(tool + ": ");
            }
        }
    }

    @Test
    void datagramsThatAreTooLongAreRefusedOrCutDown() throws Exception {
        assertThat(Perftest.measure("ib_send_bw", "-c UD -n 50 -m 1024").getLast())
                .contains("the size is 1024").containsPattern(" 1024 +50 ");
        try (Running server = Perftest.start(Command::start, "ib_send_bw",
                "-c UD -s 1025 -m 1024 -p 0")) {
            String port = server.port();
            try (Running client = Perftest.start(Command::start, "ib_send_bw",
                    "-c UD -s 1025 -m 1024", "-p",
                    port, Loopback.OWN)) {
                assertThat(client.awaitEnd()).isEqualTo(1);
                assertThat(client.lastLine()).contains("-s 1025", "1024");
            }
        }
    }
}
