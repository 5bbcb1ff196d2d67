// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The commands as users call them: output, one-line errors, exit statuses. Pairs are two threads, but for those of which a
 * process is part: the demo, one that is terminated, the locale, the classic pair.
 */
@ExtendWith(NothingStaysOpen.class)
class CommandLineTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String ADDRESS = Loopback.OWN;
    private static final String AT_ADDRESS = "-a " + ADDRESS + " -p " + Loopback.PORT;

    private final Invocation tools = new Invocation();

    private int run(String... arguments) {
        return tools.run(List.of(arguments));
    }

    private void assertFails(int status, String[] words, String... arguments) {
        tools.assertFails(status, List.of(arguments), words);
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo", "server", "client", "rping", "ibv_devices", "ibv_devinfo"})
    void everyCommandHasHelp(String command) {
        assertThat(run(command, "--help")).isZero();
        assertThat(tools.out()).contains("Usage: rdma4j " + command);
    }

    /** What is hidden are the two sides of the demo, which it starts itself. */
    @Test
    void theListHasEveryCommand() {
        assertThat(run("--help")).isZero();
        assertThat(tools.out()).contains("  atomic_pingpong ", "  ib_send_lat ", "  stat ")
                .doesNotContain("demo-side");
    }

    @ParameterizedTest
    @CsvSource({"ib_send_latt, there is no command 'ib_send_latt'; did you mean ib_send_lat",
        "demi, there is no command 'demi'; did you mean demo",
        "stat --qpp, Unknown option: '--qpp'; did you mean --qp", "xyzzy, no command 'xyzzy'"})
    void aMisspeltNameIsToldWithTheOneThatWasMeant(String line, String words) {
        assertFails(2, new String[]{words, "--help' lists what is possible"}, line.split(" ", -1));
    }

    @Test
    void devicesAreListedAndDescribedAsByTheOriginals() {
        assertThat(run("ibv_devices")).isZero();
        assertThat(tools.out()).contains("    device          \t   node GUID")
                .containsPattern("    roce_lo         \t[0-9a-f]{16}");
        assertThat(run("ibv_devinfo", "-d", "roce_lo")).isZero();
        assertThat(tools.out()).contains("hca_id:\troce_lo", "\ttransport:\t\t\tInfiniBand (0)",
                "\t\t\tstate:\t\t\tPORT_ACTIVE (4)", "\t\t\tlink_layer:\t\tEthernet")
                .containsPattern("\tfw_ver:\t+[1-9]|\tfw_ver:\t+0\\.[1-9]");
        assertThat(run("ibv_devinfo", "-d", "roce_lo", "-v")).isZero();
        assertThat(tools.out()).contains("\tmax_qp_wr:\t\t\t", "::ffff:127.0.0.", "RoCE v2",
                "\tgeneral_odp_caps:\n", "\trc_odp_caps:\n\t\t\t\t\tSUPPORT_SEND\n",
                "\txrc_odp_caps:\n\t\t\t\t\tNO SUPPORT\n", "\tdevice_cap_flags_ex:\t\t0x0\n",
                "\ttag matching not supported\n", "\tnum_comp_vectors:\t\t");
        assertThat(run("ibv_devinfo", "-l")).isZero();
        assertThat(tools.out()).containsPattern("^\\d+ HCAs? found:\n").contains("\troce_lo\n")
                .endsWith("\n\n");
    }

    @Test
    void lessonsAreListedAndRun() {
        assertThat(run("lesson")).isZero();
        assertThat(tools.out()).contains("1  Devices, ports and GIDs\n", "10  What goes wrong\n");
        assertThat(run("lesson", "2", "roce_lo")).isZero();
        assertFails(2, new String[]{"there is no lesson 11", "1 to 10"}, "lesson", "11");
        assertFails(1, new String[]{"the interface 'nowhere' has none", "roce_lo"}, "lesson", "1",
                "nowhere");
        assertFails(1, new String[]{"there is no device 'roce_nowhere'"}, "lesson", "2",
                "roce_nowhere");
    }

    @Test
    void wrongOptionsAndArgumentsAreOneLineAndStatusTwo() {
        assertFails(2, new String[]{"client", "ADDR"}, "client");
        assertFails(2, new String[]{"rping", "-s", "-c"}, "rping");
        assertFails(2, new String[]{"-S", "7"}, "rping", "-c", "-S", "7");
        assertFails(2, new String[]{"--nonsense"}, "demo", "--nonsense");
        assertFails(2, new String[]{"/no/such/file", "not there"}, "demo", "/no/such/file");
        assertFails(2, new String[]{"PORT"}, "client", "127.0.0.1", "many");
    }

    @ParameterizedTest
    @ValueSource(strings = {"client 127.0.0.1 70000", "client 127.0.0.1 -1", "client 127.0.0.1 0",
        "client 127.0.0.1 many", "server -p 70000", "server -p -1", "rping -s -p 99999",
        "rping -c -p 99999", "rping -c -p 0"})
    void portsOutOfRangeAreWrongArguments(String command) {
        assertFails(2, new String[]{"to 65535"}, command.split(" ", -1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"server -n -1", "rping -c -C -1", "server -n 3000000000"})
    void countsOutOfRangeAreWrongArguments(String command) {
        assertFails(2, new String[]{"from 0 to 2147483647"}, command.split(" ", -1));
    }

    @Test
    void devicePortsThatDoNotExistAreWrongArguments() {
        assertFails(2, new String[]{"roce_lo", "no port 5", "from 1 to 1"}, "ibv_devinfo", "-d",
                "roce_lo", "-i", "5");
        assertThat(tools.out()).isEmpty();
        assertFails(2, new String[]{"port", "'0'"}, "ibv_devinfo", "-i", "0");
        assertThat(run("ibv_devinfo", "-d", "roce_lo", "-i", "1")).isZero();
        assertThat(tools.out()).contains("\t\tport:\t1");
    }

    @Test
    void failuresAreOneLineAndStatusOne() {
        assertFails(1, new String[]{"unknown host 'no.such.host.invalid'"}, "client",
                "no.such.host.invalid", "1");
        assertFails(1, new String[]{"mlx5_0", "roce_lo"}, "ibv_devinfo", "-d", "mlx5_0");
        assertFails(1, new String[]{"198.51.100.7", "no RDMA device"}, "server", "-a",
                "198.51.100.7");
    }

    @Test
    void deviceOfAnotherProcessNamesThatProcessAndTheWayOut() throws Exception {
        List<NetworkInterface> networks = NetworkInterface.networkInterfaces()
                .filter(CommandLineTest::hasAnAddressOfItsOwn).toList();
        assumeThat(networks).as("an interface that is up, beside loopback").isNotEmpty();
        NetworkInterface network = networks.getFirst();
        InetAddress address = network.inetAddresses().filter(Inet4Address.class::isInstance)
                .findFirst().orElseThrow();
        try (DatagramSocket holder = new DatagramSocket(null)) {
            holder.setReuseAddress(false);
            assumeThat(isBound(holder, address)).as("UDP port 4791 of " + address + " is free")
                    .isTrue();
            assertFails(1, new String[]{"roce_" + network.getName() + " cannot be used",
                address.getHostAddress() + " is taken by ", "(EADDRINUSE); -d roce_lo"},
                    "ibv_rc_pingpong", "-d", "roce_" + network.getName());
            assertFails(1, new String[]{"roce_" + network.getName() + " cannot be used"},
                    "ib_send_bw", "-d", "roce_" + network.getName());
        }
    }

    /** Whoever builds may have a server of rdma4j there. */
    private static boolean isBound(DatagramSocket holder, InetAddress address)
            throws SocketException {
        try {
            holder.bind(new InetSocketAddress(address, 4791));
            return true;
        } catch (BindException taken) {
            return false;
        }
    }

    /** Here, for in another process the test above would meet it at the same address. */
    @Test
    void doctorChecksEveryDeviceThoughOneDoesNotOpen() {
        OtherProvider.offer(new RdmaException(Errno.EACCES, "open device", "it may not be opened"),
                "rdma_cm is missing");
        try {
            assertThat(run("doctor")).isOne();
        } finally {
            OtherProvider.offer(null);
        }
        assertThat(tools.out()).startsWith("machine\n    ok      ").contains(
                "    ok      native devices: mlx5_0\n    note    rdma_cm is missing\n",
                "    failed  open device: it may not be opened (EACCES)\n",
                "\nroce_lo (software", "\niwarp_lo (software", "\nroce_",
                "bytes to itself at 127.");
    }

    @Test
    void verboseDescriptionOfAllDevicesEndsWithWhatIsMissing() {
        String remark = "the kernel has no RDMA: modprobe ib_uverbs";
        OtherProvider.offer(null, remark);
        try {
            run("ibv_devinfo", "-v");
            assertThat(tools.out()).contains("hca_id:\troce_lo\n")
                    .contains("\nremark:\t" + remark + "\n");
            run("ibv_devinfo", "-v", "-d", "roce_lo");
            assertThat(tools.out()).doesNotContain("remark:");
        } finally {
            OtherProvider.offer(null);
        }
    }

    private static boolean hasAnAddressOfItsOwn(NetworkInterface candidate) {
        try {
            return candidate.isUp() && !candidate.isLoopback()
                    && candidate.inetAddresses().anyMatch(Inet4Address.class::isInstance);
        } catch (SocketException gone) {
            return false;
        }
    }

    // ---------------------------------------------------------------- two processes

    @Test
    void demoShowsEveryStepOfTwoProcesses(@TempDir Path directory) throws Exception {
        Path capture = directory.resolve("demo.pcap");
        assertThat(run("demo", "--pcap", capture.toString())).as(tools.err()).isZero();
        assertThat(tools.out()).contains("address resolved", "route resolved",
                "connection request", "established", "SEND \"hello from the client",
                "SEND \"hello from the server", "rkey", "WRITE of", "READ of",
                "woken by WRITE_WITH_IMM", "done message", "disconnected",
                "ok        what was READ equals what was written",
                "ok        the server's memory equals what was sent").doesNotContain("MISMATCH");
        assertThat(new CaptureCheck(capture).badPackets()).isEmpty();
    }

    @Test
    void demoCarriesAFile(@TempDir Path directory) throws Exception {
        Path file = randomFile(directory, 5_000_000);
        Path copy = directory.resolve("copy");
        assertThat(run("demo", file.toString(), "--output", copy.toString())).as(tools.err())
                .isZero();
        assertThat(tools.out()).contains("ok        SHA-256 of what arrived equals")
                .doesNotContain("MISMATCH");
        assertThat(copy).hasSameBinaryContentAs(file);
    }

    private static Path randomFile(Path directory, int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(1).nextBytes(bytes);
        return Files.write(directory.resolve("file"), bytes);
    }

    /** Carries a file as the demo does, its two sides being threads. */
    private static void carry(Path file, Path copy) throws Exception {
        try (Running server = Command.start(List.of("demo-side", "--file", copy.toString()))) {
            String[] words = server.lineWith("@LISTENING").split(" ", -1);
            try (Running client = Command.start(List.of("demo-side", "--server",
                    words[2] + ":" + words[3], file.toString()))) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text())
                        .containsPattern("@CHECK \\d+ true the server's SHA-256 equals");
            }
            assertThat(server.awaitEnd()).as(server.text()).isZero();
            assertThat(server.text())
                    .containsPattern("@CHECK \\d+ true SHA-256 of what arrived equals");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, (1 << 20) + 1})
    void sidesOfTheDemoCarryAFile(int size, @TempDir Path directory) throws Exception {
        Path file = randomFile(directory, size);
        Path copy = directory.resolve("copy");
        carry(file, copy);
        assertThat(copy).hasSameBinaryContentAs(file);
    }

    @Test
    void demoLeavesTheFileItCarriesAlone(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("precious"), "content");
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        for (Path same : List.of(file, link, directory.resolve("../" + directory.getFileName()
                + "/precious"))) {
            assertFails(2, new String[]{"same file"}, "demo", file.toString(), "-o",
                    same.toString());
            assertFails(2, new String[]{"same file"}, "demo", file.toString(), "--pcap",
                    same.toString());
        }
        assertThat(file).hasContent("content");
    }

    @Test
    void demoChecksWhereItWritesBeforeItStarts(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "content");
        for (String option : List.of("--output", "--pcap")) {
            assertFails(2, new String[]{option, "no directory '/no/dir'"}, "demo",
                    file.toString(), option, "/no/dir/copy");
            assertFails(2, new String[]{option, "is a directory"}, "demo", file.toString(),
                    option, directory.toString());
        }
        assertFails(2, new String[]{"--output", "/dev/null", "no regular file"}, "demo",
                file.toString(), "-o", "/dev/null");
        assertFails(2, new String[]{"same file"}, "demo", file.toString(), "-o",
                directory.resolve("new").toString(), "--pcap",
                directory.resolve("new").toString());
        assertThat(tools.out()).isEmpty();
    }

    @Test
    void demoReplacesAnOldCopyWhole(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "new");
        Path old = Files.writeString(directory.resolve("old"), "a longer content");
        Path link = Files.createSymbolicLink(directory.resolve("link"), old);
        carry(file, link);
        assertThat(old).hasContent("new");
        assertThat(link).isSymbolicLink();
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("file", "old", "link");
    }

    @Test
    void demoGivesTheUsersOptionsToItsProcessesAndSaysWhichFailed() throws Exception {
        try (Program demo = Program.withOptions(
                List.of("-Xshare:auto", "-Drdma4j.cm.maxRetries=none"), "demo")) {
            assertThat(demo.awaitEnd()).isOne();
            assertThat(demo.text()).doesNotContain("demo-side").contains("maxRetries");
            assertThat(demo.lastLine()).startsWith("demo: the server failed: ")
                    .doesNotContain("the client failed");
        }
    }

    @Test
    @Tag("processes")
    void demoThatIsTerminatedTakesItsProcessesAndUnfinishedFilesAlong(@TempDir Path directory)
            throws Exception {
        Path file = directory.resolve("endless");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(1L << 38);
        }
        try (Program demo = new Program("demo", file.toString(), "-o",
                directory.resolve("copy").toString())) {
            demo.lineWith("% of");
            List<ProcessHandle> sides = demo.process().descendants().toList();
            assertThat(sides).hasSize(2);
            demo.process().destroy();
            for (ProcessHandle side : sides) {
                side.onExit().get(LONG.toSeconds(), TimeUnit.SECONDS);
            }
        }
        assertThat(directory.toFile().list()).containsExactly("endless");
    }

    @Test
    void serverAndClientGreetEachOther() throws Exception {
        try (Program server = new Program("server", "-a", ADDRESS, "-n", "1")) {
            String port = server.port();
            try (Program client = new Program("client", ADDRESS, port)) {
                assertThat(client.awaitEnd()).isZero();
                assertThat(client.text()).contains("received message: message from passive/server"
                        + " side with pid " + server.pid());
            }
            assertThat(server.awaitEnd()).isZero();
            assertThat(server.text()).contains("peer disconnected.");
        }
    }

    @Test
    void rpingChecksWhatComesBack() throws Exception {
        try (Running server = Command.start("rping -s -S 5000 -v " + AT_ADDRESS)) {
            server.lineWith("listening");
            try (Running client = Command
                    .start("rping -c -S 5000 -C 10 -V -v " + AT_ADDRESS)) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(client.text()).contains("ping data: rdma-ping-9: J");
            }
            assertThat(server.awaitEnd()).isZero();
        }
    }

    @Test
    void digitsAreTheSameInEveryLocale() throws Exception {
        try (Program command = Program.withOptions(
                List.of("-Duser.language=ar", "-Duser.country=EG"),
                "ibv_devinfo", "-d", "roce_lo", "-v")) {
            assertThat(command.awaitEnd()).isZero();
            assertThat(command.text()).contains("\tphys_port_cnt:\t\t\t1").isASCII();
        }
    }

    @Test
    void clientEndsWhenTheExchangeFails() throws Exception {
        try (Running server = Command.start("rping -s -v " + AT_ADDRESS)) {
            server.lineWith("listening");
            try (Running client = Command.start("client " + ADDRESS + " " + Loopback.PORT)) {
                assertThat(client.awaitEnd()).isOne();
                assertThat(client.lastLine())
                        .startsWith("client: exchange messages: REMOTE_INVALID_REQUEST_ERROR");
            }
        }
    }

    @Test
    void clientWithoutServerFailsAtOnce() {
        assertFails(1, new String[]{"rejected (8: invalid service ID: no process listens"},
                "client", "127.0.0.1",
                "1");
    }
}
