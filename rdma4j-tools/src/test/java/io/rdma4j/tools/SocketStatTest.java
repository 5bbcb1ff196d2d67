// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** The sockets of another process, as {@code rdma4j stat --sockets} shows them. */
@Tag("processes")
@ExtendWith(NothingStaysOpen.class)
class SocketStatTest {
    private static @Nullable Program started;
    private static String ports = "";

    private final Program target = Objects.requireNonNull(started);
    private final String client = Loopback.OWN + ":" + ports.split(" ", -1)[0];
    private final String server = Loopback.OWN + ":" + ports.split(" ", -1)[1];
    private final String datagrams = Loopback.OWN + ":" + ports.split(" ", -1)[2];
    private final Invocation tools = new Invocation();

    @BeforeAll
    static void startTarget() throws IOException {
        started = Program.of(SocketStatTarget.class, List.of(), List.of(Loopback.OWN));
        ports = started.lineWith("");
    }

    @AfterAll
    static void endTarget() {
        if (started != null) {
            started.close();
        }
    }

    @Test
    void listenersAndBothEndsOfAConnectionAreShown() {
        assertThat(tools.run(List.of("stat", target.pid(), "--sockets"))).as(tools.err())
                .isZero();
        String buffers = "rcvbuf:131072 sndbuf:131072 rcv_credits:";
        assertThat(tools.out())
                .startsWith("process " + target.pid() + " (" + SocketStatTarget.class.getName()
                        + ")\n  State ")
                .containsPattern(
                        "\n  LISTEN +0 +7  " + server + " +\\*\n    rule:listen:\\*=rdma\n")
                .containsPattern("\n  ESTABLISHED +0 +0  " + client + " +" + server
                        + "\n    roce_lo qp:0x[0-9a-f]{6} way:[a-z]+ connect " + buffers
                        + "384 snd_credits:383 rcv_room:131072 snd_room:130072"
                        + " bytes_received:0 bytes_sent:1000 age:\\d+\\.\\d{3}s rule:rdma\n")
                .containsPattern("\n  LISTEN +0 +5  " + Loopback.OWN + ":\\d+ +\\*\n  [A-Z]")
                .containsPattern("\n  ESTABLISHED +999 +0  " + server + " +" + client
                        + "\n    roce_lo qp:0x[0-9a-f]{6} way:[a-z]+ accept " + buffers
                        + "383 snd_credits:384 rcv_room:130072 snd_room:131072"
                        + " bytes_received:1000 bytes_sent:0 age:\\d+\\.\\d{3}s rule:listen:\\*=rdma\n");
    }

    @Test
    void socketsOfDatagramsAreShownWithTheirQueuePairs() {
        assertThat(tools.run(List.of("stat", target.pid(), "--sockets"))).isZero();
        assertThat(tools.out()).containsPattern("\n  DATAGRAM +1 +0  " + datagrams + " +\\*"
                + "\n    roce_lo qp:0x[0-9a-f]{6} rcvbuf:131072 sndbuf:131072 peers:1"
                + " datagrams_received:2 bytes_received:30 datagrams_dropped:0 datagrams_sent:2"
                + " bytes_sent:30 datagrams_introduced:1 age:\\d+\\.\\d{3}s"
                + " rule:datagrams:\\*=rdma\n");
        tools.run(List.of("stat", target.pid(), "--sockets", "--json"));
        assertThat(tools.out()).contains("\"state\":\"DATAGRAM\",\"local\":\"" + datagrams
                + "\",\"peer\":\"*\",\"receive_buffer\":131072,\"send_buffer\":131072,"
                + "\"waiting\":1,\"leaving\":0,\"peers\":1,\"received_datagrams\":2,",
                "\"introduced_datagrams\":1,\"rule\":\"datagrams:*=rdma\",\"age_ms\":",
                "\"way\":\"\",\"address\":\""
                        + Loopback.OWN + "\"}]}");
    }

    @Test
    void onlyConnectionsOfADeviceAreShownIfItIsNamed() {
        assertThat(tools.run(List.of("stat", target.pid(), "--sockets", "-d", "roce_lo"))).isZero();
        assertThat(tools.out()).contains("ESTABLISHED").doesNotContain("LISTEN");
        tools.assertFails(1, List.of("stat", target.pid(), "--sockets", "-d", "iwarp_lo"),
                "no running JVM of this user has a connection over iwarp_lo open");
    }

    @Test
    void jsonHasEverySocketOnOneLine() {
        assertThat(tools.run(List.of("stat", target.pid(), "--sockets", "--json"))).isZero();
        assertThat(tools.out().lines()).hasSize(1);
        assertThat(tools.out())
                .startsWith("[{\"pid\":" + target.pid() + ",\"program\":\""
                        + SocketStatTarget.class.getName() + "\",\"state\":\"LISTEN\",\"local\":\""
                        + server
                        + "\",\"backlog\":7,\"waiting\":0,\"answered\":0,\"rule\":\"listen:*=rdma\"},{")
                .contains("\"side\":\"accept\",\"device\":\"roce_lo\",\"queue_pair\":",
                        "\"readable\":999,\"unacknowledged\":0,\"receive_credits\":383,"
                                + "\"send_credits\":384,",
                        "\"received_bytes\":1000,\"sent_bytes\":0,\"mapped_bytes\":0,"
                                + "\"keepalive_seconds\":0,\"rule\":\"listen:*=rdma\",\"age_ms\":");
    }

    @Test
    void watchingShowsWhatWasAdded() throws Exception {
        try (Program other = Program.of(SocketStatTarget.class, List.of(),
                List.of(Loopback.OTHER))) {
            other.lineWith("");
            try (Command stat = Command.start("stat " + other.pid() + " --sockets --watch 0.05")) {
                stat.lineWith("bytes_sent:1000 ");
                other.process().getOutputStream().write('\n');
                other.process().getOutputStream().flush();
                assertThat(stat.lineWith("(+1000)")).contains("2000(+1000)");
                other.end();
                assertThat(stat.awaitEnd()).isZero();
            }
        }
    }

    @Test
    void processWithoutSocketsIsOneLineAndHasLoadedNothingOfThem(@TempDir Path directory)
            throws Exception {
        Path loaded = directory.resolve("loaded");
        try (Program other = Program.of(StatTarget.class,
                List.of("-Xlog:class+load:file=" + loaded), List.of(Loopback.OTHER))) {
            other.lineWith("sent by");
            assertThat(Files.readString(loaded)).contains("io.rdma4j.observe.registry.ShownBean")
                    .doesNotContain("io.rdma4j.sockets");
            tools.assertFails(1, List.of("stat", other.pid(), "--sockets"),
                    "no running JVM of this user has a socket over RDMA open");
        }
    }

    @Test
    void optionsOfDevicesAreRefused() {
        tools.assertFails(2, List.of("stat", "--sockets", "--qp"),
                "--sockets goes with neither --qp nor -a");
    }
}
