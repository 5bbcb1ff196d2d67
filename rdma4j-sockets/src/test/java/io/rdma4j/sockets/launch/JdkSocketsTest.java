// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What is said of sockets that no provider makes. */
class JdkSocketsTest {
    private final List<String> said = new ArrayList<>();
    private List<String> callers = List.of("sun.nio.ch.NioSocketImpl", "java.net.Socket",
            "com.sun.net.Helper", "org.example.Client", "org.example.Main");
    private final JdkSockets sockets = new JdkSockets(said::add, false, () -> callers);

    private void load(String name) {
        assertThat(sockets.transform(null, null, name, null, null, new byte[0])).isNull();
    }

    @ParameterizedTest
    @CsvSource({"NioSocketImpl$1, java.net.Socket, RdmaSocketFactory",
        "UnixAsynchronousSocketChannelImpl, java.nio.channels.AsynchronousSocketChannel, selector",
        "WindowsAsynchronousServerSocketChannelImpl,"
                + " java.nio.channels.AsynchronousSocketChannel, selector"})
    void whoMakesThemIsNamedOnce(String loaded, String kind, String remedy) {
        load("sun/nio/ch/" + loaded);
        load("sun/nio/ch/" + loaded);
        assertThat(said).singleElement().asString().startsWith(
                "rdma4j: " + kind
                        + " of org.example.Client goes over TCP, whatever the rules say: ")
                .contains(remedy).doesNotContain("\n");
    }

    @Test
    void bothKindsAreSaid() {
        load("sun/nio/ch/NioSocketImpl$1");
        load("sun/nio/ch/UnixAsynchronousServerSocketChannelImpl");
        load("sun/nio/ch/UnixAsynchronousSocketChannelImpl");
        assertThat(said).hasSize(2);
    }

    @Test
    void thoseOfTheJdkAloneAreThePrograms() {
        callers = List.of("java.net.Socket", "sun.net.NetworkClient", "java.lang.Thread");
        load("sun/nio/ch/NioSocketImpl$1");
        assertThat(said).singleElement().asString().contains("java.net.Socket of the program ");
    }

    @Test
    void whoObservesTheJvmIsNoProgram() {
        callers = List.of("java.net.ServerSocket", "sun.rmi.transport.tcp.TCPEndpoint",
                "jdk.internal.agent.Agent");
        load("sun/nio/ch/NioSocketImpl$1");
        assertThat(said).isEmpty();
        callers = List.of("java.net.Socket", "org.example.Client");
        load("sun/nio/ch/NioSocketImpl$2");
        assertThat(said).hasSize(1);
    }

    @Test
    void programThatIsObservedIsOne() {
        callers = List.of("java.net.Socket", "org.example.Bean", "javax.management.Attribute");
        load("sun/nio/ch/NioSocketImpl$1");
        assertThat(said).singleElement().asString().contains("org.example.Bean");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sun/nio/ch/NioSocketImpl", "java/net/Socket",
        "org/example/NioSocketImpl$1"})
    void othersSayNothing(String name) {
        load(name);
        assertThat(said).isEmpty();
    }

    @Test
    void socketsThatGoByTheRulesAreNotSaid() {
        JdkSockets routed = new JdkSockets(said::add, true, () -> callers);
        for (String each : List.of("NioSocketImpl$1", "NioSocketImpl$2")) {
            assertThat(routed.transform(null, null, "sun/nio/ch/" + each, null, null, new byte[0]))
                    .isNull();
        }
        assertThat(said).isEmpty();
        byte[] changed = routed.transform(null, null,
                "sun/nio/ch/UnixAsynchronousSocketChannelImpl", null, null, new byte[0]);
        assertThat(changed).isNull();
        assertThat(said).hasSize(1);
    }
}
