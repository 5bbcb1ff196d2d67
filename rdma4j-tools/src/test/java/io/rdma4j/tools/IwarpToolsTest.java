// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The tools over iWARP, between two threads; what reliable connections without immediates and atomics do. */
@ExtendWith(NothingStaysOpen.class)
class IwarpToolsTest {
    private static final String DEVICE = "rdma4j.device";

    @BeforeAll
    static void chooseDevice() {
        System.setProperty(DEVICE, "iwarp");
    }

    @AfterAll
    static void leaveTheChoice() {
        System.clearProperty(DEVICE);
    }

    private static Running start(String line) throws Exception {
        return Command.start(List.of(line.split(" ", -1)));
    }

    private static void assertBothEndWell(Running server, Running client) throws Exception {
        // The server may say more than it has room for.
        int serverStatus = server.awaitEnd();
        assertThat(client.awaitEnd()).as(client.text()).isZero();
        assertThat(serverStatus).as(server.text()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_write_bw -n 20 -b -l 4 -q 2", "ib_read_bw -n 20 -s 100000",
        "ib_send_bw -n 3000 -s 64", "ib_send_bw -n 2000 -b -q 2", "ib_send_bw -n 300 -r 2 -e",
        "ib_send_bw -n 30 -r 1", "ib_send_bw -n 40 -r 4 -l 4",
        "ib_send_bw -a -n 20", "ib_send_bw -n 600 -s 65536", "ib_send_bw -D 1",
        "ib_write_bw -D 3 --patience 1",
        "ib_write_lat -n 20", "ib_read_lat -n 20",
        "ib_send_lat -n 20"})
    void perftestMeasures(String line) throws Exception {
        measure(line + " --no-perform_warm_up");
    }

    @Test
    void listThatThePeerCannotReceiveIsRefused() throws Exception {
        String line = "ib_send_bw -n 40 -l 4 -r 2 -F -R -d iwarp_lo -p ";
        try (Running server = start(line + "0");
                Running client = start(line + server.port()
                        + " 127.0.0.1")) {
            assertThat(client.awaitEnd()).as(client.text()).isOne();
            assertThat(client.text()).contains("-l 4 posts more messages at once than the 2 ");
            assertThat(server.awaitEnd()).as(server.text()).isOne();
            assertThat(server.lastLine())
                    .isEqualTo("ib_send_bw: the peer hung up; its own output says why");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_write_bw -n 20 -b -l 4 -q 2", "ib_send_lat -n 20"})
    void perftestWarmsUp(String line) throws Exception {
        assertThat(measure(line)).containsPattern("Warm-up +: ON\n");
    }

    private static String measure(String line) throws Exception {
        try (Running server = start(line + " -F -R -d iwarp_lo -p 0")) {
            String port = server.port();
            try (Running client = start(line + " -F -R -d iwarp_lo -p " + port + " 127.0.0.1")) {
                assertBothEndWell(server, client);
                assertThat(client.text()).contains(" Transport type  : IW\n")
                        .containsPattern("(?m)^ \\d+ +\\d+ +\\d+\\.\\d\\d");
                return client.text();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-C 3 -V", "-C 20 -S 65535 -V", "-C 2 -q"})
    void rpingExchangesMessages(String options) throws Exception {
        try (Running server = start("rping -s -v -a " + Loopback.OWN + " -p 0 " + options)) {
            String port = server.port();
            try (Running client = start(
                    "rping -c -a " + Loopback.OWN + " -p " + port + " " + options)) {
                assertBothEndWell(server, client);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-c 2", "-S 70000 -C 3", "-c 64 -C 5"})
    void ucmatoseExchangesMessages(String options) throws Exception {
        try (Running server = start("ucmatose -b " + Loopback.OWN + " " + options)) {
            server.lineWith(": starting server");
            try (Running client = start("ucmatose -s " + Loopback.OWN + " " + options)) {
                assertBothEndWell(server, client);
            }
        }
    }

    @Test
    void demoShowsWhatThereIs() throws Exception {
        try (Running demo = start("demo -d iwarp_lo")) {
            assertThat(demo.awaitEnd()).as(demo.text()).isZero();
        }
    }

    /** What is not there is refused in one line. */
    @ParameterizedTest
    @ValueSource(strings = {"ib_write_bw -d iwarp_lo 127.0.0.1", "ibv_rc_pingpong -d iwarp_lo -p 0",
        "ib_atomic_bw -R -d iwarp_lo -p 0", "udaddy -s 127.0.0.1"})
    void whatItLacksIsSaid(String line) throws Exception {
        try (Running tool = start(line)) {
            assertThat(tool.awaitEnd()).as(tool.text()).isNotZero();
            assertThat(tool.text()).doesNotContain("Exception").contains("iwarp");
        }
    }
}
