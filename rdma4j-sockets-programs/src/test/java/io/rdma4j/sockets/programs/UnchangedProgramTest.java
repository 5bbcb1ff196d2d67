// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Programs that know nothing of RDMA, in JVMs of their own. */
class UnchangedProgramTest {
    private static final long BYTES = 2 * 64 * 2 * 100_000;
    /** Three echoes and an answer of HTTP. */
    private static final long BYTES_OF_JAVA_NET = 7 * 300_000;

    @TempDir
    private Path directory;

    @Test
    void httpGoesOverRdmaByProperty() throws Exception {
        ForkedJvm.Result result = ForkedJvm.byProperty("rdma", Observed.class.getName(),
                HttpProgram.class.getName(), "platform");
        assertThat(result.output()).contains("64 answers by http\n", "64 answers by https\n");
        assertThat(result.number("RDMA bytes")).isGreaterThan(BYTES);
        assertThat(result.number("TCP connections")).isZero();
    }

    @Test
    void httpGoesOverTcpIfTheRulesSaySo() throws Exception {
        ForkedJvm.Result result = ForkedJvm.byProperty("tcp", Observed.class.getName(),
                HttpProgram.class.getName(), "platform");
        assertThat(result.output()).contains("64 answers by http\n", "64 answers by https\n");
        assertThat(result.number("RDMA bytes")).isZero();
        assertThat(result.number("TCP connections")).isPositive();
    }

    @Test
    void oneVariableIsEnough() throws Exception {
        Path jar = ForkedJvm.jar(directory, true);
        ForkedJvm.Result result = ForkedJvm.byOneVariable(jar, "127.0.0.0/8=rdma,*=tcp",
                List.of(), Observed.class.getName(), HttpProgram.class.getName(), "virtual");
        assertThat(result.output()).contains("64 answers by http\n", "64 answers by https\n");
        assertThat(result.number("RDMA bytes")).isGreaterThan(BYTES);
        assertThat(result.number("TCP connections")).isZero();
    }

    @Test
    void connectionsLastAsLongAsTheProgramsShutdownHooks() throws Exception {
        String program = FarewellProgram.class.getName();
        assertThat(ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true), "rdma", List.of(),
                program).output()).contains("good-bye");
        assertThat(ForkedJvm.byProperty("rdma", program).output()).contains("good-bye");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "auto"})
    void socketsThatAreNoChannelsGoOverRdma(String rules) throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true), rules,
                List.of(), Observed.class.getName(), JavaNetProgram.class.getName());
        assertThat(result.output()).contains("all of java.net\n");
        assertThat(result.number("RDMA bytes")).isGreaterThan(BYTES_OF_JAVA_NET);
        assertThat(result.number("TCP connections")).isZero();
    }

    @Test
    void socketsThatAreNoChannelsGoOverTcpIfTheRulesSaySo() throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true),
                "connect:*=tcp,listen:*=auto", List.of(), Observed.class.getName(),
                JavaNetProgram.class.getName());
        assertThat(result.output()).contains("all of java.net\n");
        assertThat(result.number("RDMA bytes")).isZero();
        assertThat(result.number("TCP connections")).isPositive();
    }

    @Test
    void whoObservesTheJvmDoesSoOverTcp() throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true), "rdma",
                List.of(), Observed.class.getName(), JmxProgram.class.getName());
        assertThat(result.output()).contains("beans true", "answer 42")
                .doesNotContain("rdma4j:");
        assertThat(result.number("RDMA bytes")).isZero();
        assertThat(result.number("TCP connections")).isPositive();
    }

    @Test
    void overTcpTheProxyOfTheJvmIsAsked() throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true),
                "10.0.0.0/8=rdma,*=tcp", List.of(), ProxyProgram.class.getName());
        assertThat(result.output()).contains("asked by version 5", "direct true");
    }

    /** Whoever asks over RDMA alone learns which rule it was. */
    @Test
    void socketWhosePeerListensOverTcpSaysWhy() throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true),
                "connect:*=rdma,listen:*=tcp", List.of(), JavaNetProgram.class.getName());
        assertThat(result.output()).contains("java.net.ConnectException: Connection refused",
                "(over RDMA, by the rule 'connect:*=rdma')");
    }

    /** Nobody would learn otherwise why such a program is no faster. */
    @Test
    void programWithSocketsThatStayOnTcpIsToldSo() throws Exception {
        Path jar = ForkedJvm.jar(directory, true);
        String program = PlainSocketProgram.class.getName();
        String first = "rdma4j: java.net.Socket of " + program + " goes over TCP, whatever the"
                + " rules say: where it takes a factory give it RdmaSocketFactory or"
                + " RdmaServerSocketFactory\n";
        String second = "rdma4j: java.nio.channels.AsynchronousSocketChannel of " + program
                + " goes over TCP, whatever the rules say: let it take channels and a selector"
                + " where it has the choice\n";
        assertThat(ForkedJvm.byOneVariable(jar, "rdma", List.of(), program, "sockets").output())
                .doesNotContain(first).containsOnlyOnce(second);
        assertThat(ForkedJvm.byOneVariable(jar, "rdma", List.of("-Drdma4j.sockets.plain=false"),
                program, "sockets").output()).containsOnlyOnce(first).containsOnlyOnce(second);
        for (String without : List.of("channels", "tls")) {
            assertThat(ForkedJvm.byOneVariable(jar, "rdma", List.of(), program, without).output())
                    .contains("connected true").doesNotContain("whatever the rules say");
        }
        assertThat(ForkedJvm.byOneVariable(jar, "tcp", List.of(), program, "sockets").output())
                .contains("connected true").doesNotContain("whatever the rules say");
    }

    @Test
    void mistakesEndTheJvmWithOneLine() throws Exception {
        Path jar = ForkedJvm.jar(directory, true);
        assertThat(said(jar, "*:80=rdma", List.of())).isEqualTo("rdma4j: no rule says what other"
                + " addresses to connect to go over: end with *=tcp, *=rdma or *=auto\n");
        assertThat(said(jar, "",
                List.of("-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.Other"))).isEqualTo(
                        "rdma4j: -Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.Other is set"
                                + " already: take it away, or start without -javaagent\n");
        assertThat(said(jar, "", List.of("-Drdma4j.sockets.buffer=1m"))).isEqualTo("rdma4j:"
                + " -Drdma4j.sockets.buffer is an even number of bytes from 4096 to 536870911,"
                + " not '1m'\n");
        assertThat(said(ForkedJvm.jar(directory, false), "", List.of())).isEqualTo(
                "rdma4j: there is no provider of devices: the other jars of rdma4j belong beside"
                        + " that of -javaagent\n");
    }

    /** The JDK's own {@code jwebserver}, of which nothing is on the class path. */
    @Test
    void aProgramThatIsAModuleNeedsMoreOfTheJdk() throws Exception {
        String jar = "\"-javaagent:" + ForkedJvm.jar(directory, true) + "\"";
        List<String> server = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-m",
                "jdk.httpserver", "--help");
        ForkedJvm.Result result = ForkedJvm.run(server, Map.of("JDK_JAVA_OPTIONS", jar));
        assertThat(result.status()).isOne();
        assertThat(result.output()).endsWith("\nrdma4j: the program is a module, and the JVM has"
                + " no more than that requires: add --add-modules=jdk.net\n");
        assertThat(ForkedJvm.run(server, Map.of("JDK_JAVA_OPTIONS",
                "--add-modules=jdk.net " + jar)).status()).isZero();
    }

    private static String said(Path jar, String rules, List<String> options) throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(jar, rules, options,
                HttpProgram.class.getName(), "virtual");
        assertThat(result.status()).isOne();
        return result.output().replaceFirst("NOTE: Picked up JDK_JAVA_OPTIONS:.*\n", "");
    }
}
