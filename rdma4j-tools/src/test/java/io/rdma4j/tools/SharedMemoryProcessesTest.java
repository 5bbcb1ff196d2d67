// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;

import java.time.Duration;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Two processes whose messages pass through memory that both have mapped. */
@Tag("processes")
@ExtendWith(LoopbackAlone.class)
@EnabledOnOs(OS.LINUX)
class SharedMemoryProcessesTest {
    private static final String ADDRESS = Loopback.OWN;
    private static final int PATIENCE_S = 7;
    /** A client waits for its message to be sent, and for an answer. */
    private static final int LONGEST_END_S = 3 * PATIENCE_S;
    private static final Duration LONG_STOP = Duration.ofSeconds(4);

    private final Invocation tools = new Invocation();

    private static Program echo(String loopback, String... arguments) throws Exception {
        return Program.of(Echo.class, options(loopback), List.of(arguments));
    }

    private static List<String> options(String loopback) {
        return List.of("-Drdma4j.loopback=" + loopback,
                "-D" + Echo.PATIENCE_PROPERTY + "=" + PATIENCE_S);
    }

    private static Program server(String loopback) throws Exception {
        return echo(loopback, ADDRESS);
    }

    private static Program client(String loopback, Program server) throws Exception {
        return begun(echo(loopback, ADDRESS, server.port()));
    }

    private static Program begun(Program client) throws Exception {
        client.lineWith("begins");
        return client;
    }

    private String wayOf(Program program) throws Exception {
        // Its JVM shows its devices a moment after they are opened, and stat ends with 1 until then.
        Wait.until("a queue pair of " + program.pid(),
                () -> tools.run("stat " + program.pid() + " --qp") == 0
                        && tools.out().contains(", way "));
        return tools.out();
    }

    private static void end(Program client) throws Exception {
        client.tell("enough");
        assertThat(client.awaitEnd()).as(client.text()).isZero();
        assertThat(client.text()).containsPattern("answered [1-9]");
    }

    @Test
    void theyDoSoByThemselves() throws Exception {
        try (Program server = server("auto"); Program client = client("auto", server)) {
            assertThat(wayOf(client)).contains(" RTS, peer 127.").contains(", way shared\n");
            assertThat(wayOf(server)).contains(", way shared\n");
            end(client);
        }
    }

    @Test
    void whoDoesNotWantItIsReachedByTheNetwork() throws Exception {
        try (Program server = server("network"); Program client = client("auto", server)) {
            assertThat(wayOf(client)).contains(", way network\n");
            assertThat(wayOf(server)).contains(", way network\n");
            end(client);
        }
    }

    /** As containers of a pod: they share the address, but do not see the processes whose memory it is. */
    @Test
    @Tag("long")
    void whoDoesNotSeeTheProcessIsReachedByTheNetwork() throws Exception {
        try (Program server = server("auto");
                Program client = begun(Program.apart(Echo.class, options("auto"),
                        List.of(ADDRESS, server.port())))) {
            assertThat(wayOf(server)).contains(", way network\n");
            end(client);
        }
    }

    @Test
    void aPeerThatIsStoppedForAWhileGoesOn() throws Exception {
        try (Program server = server("auto"); Program client = client("auto", server)) {
            signal("STOP", server);
            client.lineWith("waits");
            signal("CONT", server);
            client.lineWith("goes on");
            end(client);
        }
    }

    /** For longer than all time-outs together: its process lives, as this side knows. */
    @Test
    void aPeerThatIsStoppedForLongGoesOn() throws Exception {
        try (Program server = server("auto"); Program client = client("auto", server)) {
            signal("STOP", server);
            client.lineWith("waits");
            Thread.sleep(LONG_STOP);
            signal("CONT", server);
            client.lineWith("goes on");
            end(client);
        }
    }

    /** The first connection has filled the ring, and of the second nothing ever enters it. */
    @Test
    void everyConnectionToAPeerThatIsStoppedForGoodEnds() throws Exception {
        List<String> options = List.of("-Drdma4j.loopback=auto");
        try (Program server = Program.of(TwoWriters.class, options, List.of(ADDRESS));
                Program client = Program.of(TwoWriters.class, options,
                        List.of(ADDRESS, server.port()))) {
            client.lineWith("connected");
            signal("STOP", server);
            client.tell("write");
            assertThat(client.awaitEnd()).as(client.text()).isZero();
            assertThat(client.text()).contains("first RETRY_EXCEEDED_ERROR")
                    .contains("second RETRY_EXCEEDED_ERROR");
            signal("CONT", server);
        }
    }

    @Test
    void aPeerThatIsKilledEndsTheConnectionAndNothingElse() throws Exception {
        try (Program server = server("auto");
                Program client = client("auto", server);
                Program others = server("auto");
                Program other = client("auto", others)) {
            server.process().destroyForcibly().waitFor();
            long startNs = System.nanoTime();
            assertThat(client.awaitEnd()).as(client.text()).isNotZero();
            assertThat(System.nanoTime() - startNs).isLessThan(LONGEST_END_S * 1_000_000_000L);
            // The device says so, or it has acknowledged the last message and died before its answer.
            assertThat(client.text()).containsAnyOf("WORK_REQUEST_FLUSHED", "RETRY_EXCEEDED_ERROR",
                    "no answer to message");
            end(other);
        }
    }

    private static void signal(String name, Program target) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, target.pid()).start().waitFor()).isZero();
    }
}
