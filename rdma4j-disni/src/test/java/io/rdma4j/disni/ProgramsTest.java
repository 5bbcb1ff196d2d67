// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.disni.Plug.Version;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** DiSNI's examples and benchmarks and DaRPC's, unchanged, in two processes. */
class ProgramsTest {
    private static final String EXAMPLES = "com.ibm.disni.examples.";
    private static final String BENCHMARKS = "com.ibm.disni.benchmarks.";
    /** DiSNI logs it when it has done so. */
    private static final String LISTENS = "listen, id";
    private static final Pattern KEY = Pattern.compile("key (-?\\d+)");
    private static final int SIZE = 64;
    private static final int MESSAGES = 1000;

    @TempDir
    Path directory;

    /** What all tests of this class start alike. */
    private record Pair(Way way, Plug plug, Version version, Path directory) {
        Program start(String... program) throws Exception {
            return new Program(plug.command(version, way.options(), program),
                    plug.environment(directory), directory);
        }

        /** {@return a server that listens} */
        Program serve(String... program) throws Exception {
            Program server = start(program);
            try {
                server.await(LISTENS);
                return server;
            } catch (Throwable e) {
                server.close();
                throw e;
            }
        }

        /** {@return a program that says what the device has carried} */
        Program observe(String... program) throws Exception {
            return start(Stream.concat(Stream.of(Observed.class.getName()), Stream.of(program))
                    .toArray(String[]::new));
        }
    }

    private static String[] program(String name, String... further) {
        return Stream.concat(Stream.of(name, "-a", Loopback.OWN, "-p",
                Integer.toString(Loopback.PORT)), Stream.of(further)).toArray(String[]::new);
    }

    static Stream<Arguments> few() {
        return Stream.concat(
                Stream.of(Way.values())
                        .map(way -> Arguments.of(way, Plug.CLASS_PATH, Version.V2_1)),
                Stream.of(Arguments.of(Way.ROCE_IN_MEMORY, Plug.AGENT, Version.V2_0)));
    }

    static Stream<Arguments> two() {
        return Stream.of(Arguments.of(Way.IWARP, Plug.CLASS_PATH, Version.V2_1),
                Arguments.of(Way.ROCE_IN_MEMORY, Plug.AGENT, Version.V2_0));
    }

    static Stream<Arguments> all() {
        return Stream.of(Way.values()).flatMap(way -> Stream.of(Plug.values())
                .flatMap(plug -> Stream.of(Version.values())
                        .map(version -> Arguments.of(way, plug, version))));
    }

    @ParameterizedTest
    @Tag("processes")
    @MethodSource("few")
    void verbsByHandReadTheTextOfTheServer(Way way, Plug plug, Version version) throws Exception {
        verbsByHand(new Pair(way, plug, version, directory));
    }

    @ParameterizedTest
    @Tag("processes")
    @MethodSource("two")
    void readsByAnActiveGroupBringTheGrowingText(Way way, Plug plug, Version version)
            throws Exception {
        reads(new Pair(way, plug, version, directory));
    }

    @ParameterizedTest
    @MethodSource("two")
    void messagesByAnActiveGroupGoBothWays(Way way, Plug plug, Version version) throws Exception {
        messages(new Pair(way, plug, version, directory));
    }

    @Test
    @Tag("processes")
    void pollingReadsMoveEveryByte() throws Exception {
        pollingReads(
                new Pair(Way.ROCE_THROUGH_THE_NETWORK, Plug.CLASS_PATH, Version.V2_1, directory));
    }

    @ParameterizedTest
    @Tag("processes")
    @ValueSource(ints = {1, 16})
    void pollingMessagesDoNotStop(int depth) throws Exception {
        pollingMessages(new Pair(Way.ROCE_IN_MEMORY, Plug.CLASS_PATH, Version.V2_1, directory),
                depth);
    }

    /** DiSNI's default is no retry, for a NIC answers while its JVM pauses. */
    @Test
    @Tag("processes")
    void pausingPeerIsWaitedFor() throws Exception {
        Pair pair = new Pair(Way.ROCE_IN_MEMORY, Plug.CLASS_PATH, Version.V2_1, directory);
        String[] size = {"-s", "64", "-k", "300000"};
        try (Program server = pair.serve(program(BENCHMARKS + "ReadServer", size));
                Program client = pair.observe(program(BENCHMARKS + "ReadClient", size))) {
            client.await("ReadClient, preparing read operation");
            server.pause(Duration.ofMillis(700));
            assertThat(client.output()).as("still reading").doesNotContain("latency");
            String said = client.awaitEnd();
            assertThat(bytes(said, "received")).as(said).isGreaterThanOrEqualTo(64L * 300_000);
        }
    }

    @Test
    @Tag("processes")
    void comparisonWithTcpEnds() throws Exception {
        comparisonWithTcp(
                new Pair(Way.ROCE_IN_MEMORY, Plug.CLASS_PATH, Version.V2_1, directory));
    }

    @Test
    void callsOfDarpcAreAnswered() throws Exception {
        calls(new Pair(Way.ROCE_IN_MEMORY, Plug.AGENT, Version.V2_1, directory));
    }

    @ParameterizedTest
    @MethodSource("all")
    @Tag("long")
    @Timeout(600)
    void everyProgramRunsInEveryWay(Way way, Plug plug, Version version) throws Exception {
        Pair pair = new Pair(way, plug, version, directory);
        verbsByHand(pair);
        reads(pair);
        messages(pair);
        pollingReads(pair);
        for (int depth : List.of(1, 2, 4, 16)) {
            pollingMessages(pair, depth);
        }
        comparisonWithTcp(pair);
        calls(pair);
    }

    private static void verbsByHand(Pair pair) throws Exception {
        try (Program server = pair.serve(program(EXAMPLES + "VerbsServer"));
                Program client = pair.start(program(EXAMPLES + "VerbsClient"))) {
            String said = client.awaitEnd();
            assertThat(said).contains("VerbsClient::read memory from server: " + text(key(said)));
            assertThat(server.awaitEnd()).contains("VerbsServer::done");
        }
    }

    private static void reads(Pair pair) throws Exception {
        try (Program server = pair.serve(program(EXAMPLES + "ReadServer"));
                Program client = pair.start(program(EXAMPLES + "ReadClient"))) {
            String said = client.awaitEnd();
            String text = text(key(said));
            List<String> read = said.lines()
                    .filter(line -> line.startsWith("ReadClient::read memory from server: "))
                    .map(line -> line.substring(line.indexOf(": ") + 2).trim()).toList();
            assertThat(read).hasSize(10).allMatch(text::startsWith).contains(text);
            assertThat(read.getFirst().length()).isLessThan(text.length());
            assertThat(server.awaitEnd()).contains("ReadServer::final message");
        }
    }

    /** {@return what the server wrote to its memory} */
    private static String text(String key) {
        return "This is a RDMA/read on stag " + key + " !";
    }

    private static String key(String said) {
        Matcher key = KEY.matcher(said);
        assertThat(key.find()).as(said).isTrue();
        return key.group(1);
    }

    private static void messages(Pair pair) throws Exception {
        try (Program server = pair.serve(program(EXAMPLES + "SendRecvServer"));
                Program client = pair.start(program(EXAMPLES + "SendRecvClient"))) {
            assertThat(client.awaitEnd())
                    .contains("Message from the server: Hello from the server");
            assertThat(server.awaitEnd())
                    .contains("Message from the client: Hello from the client");
        }
    }

    private static void pollingReads(Pair pair) throws Exception {
        String[] size = {"-s", "1024", "-k", "5000"};
        try (Program server = pair.serve(program(BENCHMARKS + "ReadServer", size));
                Program client = pair.observe(program(BENCHMARKS + "ReadClient", size))) {
            String said = client.awaitEnd();
            assertThat(said).contains("ReadClient, latency");
            assertThat(bytes(said, "received")).as(said).isGreaterThanOrEqualTo(1024L * 5000);
            assertThat(server.awaitEnd()).contains("ReadServer, final message");
        }
    }

    /** The server waits for one message too many, and never ends. */
    private static void pollingMessages(Pair pair, int depth) throws Exception {
        String[] size = {"-s", Integer.toString(SIZE), "-k", Integer.toString(MESSAGES), "-q",
            Integer.toString(depth)};
        try (Program _ = pair.serve(program(BENCHMARKS + "SendRecvServer", size));
                Program client = pair.observe(program(BENCHMARKS + "SendRecvClient", size))) {
            String said = client.awaitEnd();
            assertThat(said).contains("Bidirectional average latency");
            long all = (long) SIZE * MESSAGES;
            assertThat(bytes(said, "sent")).as(said).isGreaterThanOrEqualTo(all);
            assertThat(bytes(said, "received")).as(said).isGreaterThanOrEqualTo(all);
        }
    }

    private static void comparisonWithTcp(Pair pair) throws Exception {
        String[] size = {"-s", "4096", "-k", "300"};
        try (Program server = pair.serve(program(BENCHMARKS + "RDMAvsTcpBenchmarkServer", size));
                Program client = pair
                        .observe(program(BENCHMARKS + "RDMAvsTcpBenchmarkClient", size))) {
            String said = client.awaitEnd();
            assertThat(said).contains("RDMA result:", "TCP result:");
            assertThat(bytes(said, "sent")).as(said).isGreaterThanOrEqualTo(4096L * 300);
            assertThat(bytes(said, "received")).as(said).isGreaterThanOrEqualTo(4096L * 300);
            assertThat(server.awaitEnd()).contains("Accepted connection from");
        }
    }

    /** The server never ends. Its port is always the same, so builds of this machine take turns. */
    private static void calls(Pair pair) throws Exception {
        Path turns = Path.of(System.getProperty("java.io.tmpdir"), "rdma4j-darpc-port.lock");
        try (FileChannel lock = FileChannel.open(turns, StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
                FileLock _ = lock.lock();
                Program server = pair.serve("com.ibm.darpc.examples.server.DaRPCServer", "-a",
                        Loopback.OWN);
                Program client = pair.observe("com.ibm.darpc.examples.client.DaRPCClient", "-a",
                        Loopback.OWN, "-k", "2000")) {
            String said = client.awaitEnd();
            assertThat(said).contains("ops 2000.0");
            assertThat(bytes(said, "received")).as(said).isPositive();
            server.await("disconnecting 1");
        }
    }

    private static long bytes(String said, String direction) {
        String prefix = "RDMA " + direction + " ";
        return said.lines().filter(line -> line.startsWith(prefix))
                .mapToLong(line -> Long.parseLong(line.substring(prefix.length()))).findFirst()
                .orElse(-1);
    }
}
