// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What perftest's tools do before they measure. */
@Tag("processes")
@ExtendWith({NothingStaysOpen.class, OwnAddress.class})
class PerftestWarmUpTest {
    @ParameterizedTest
    @CsvSource({"ib_write_bw, -n 20 -b -l 4 -q 2", "ib_send_lat, -c UD -R -n 20",
        "ib_read_lat, -D 1", "ib_send_bw, -c UD -q 200 -n 20 -s 64",
        "ib_write_lat, -n 20 -s 65200"})
    void messagesThatDoNotCountWarmUpFirst(String tool, String options) throws Exception {
        String alone = "-d roce_lo" + OwnAddress.by("-x") + " " + options;
        String client = Perftest.runBoth(Command::start, tool, alone, alone).getLast();
        assertThat(client).containsPattern("Warm-up +: ON\n")
                .containsPattern("(?m)^ \\d+ +\\d+ +\\d+\\.\\d\\d");
    }

    /** Only who sends has to say that several sends are posted at once. */
    @Test
    void sidesWithOtherListsWarmUpTogether() throws Exception {
        assertThat(Perftest.runBoth(Command::start, "ib_send_bw", "-n 30", "-n 30 -l 3"))
                .allSatisfy(text -> assertThat(text).containsPattern("Warm-up +: ON\n"));
    }

    @ParameterizedTest
    @CsvSource({"ib_send_lat, -n 10, ib_read_lat, -n 10", "ib_write_bw, -q 1, ib_write_bw, -q 2"})
    void sidesThatDoNotFitBothEndWithOneLine(String servers, String serversOptions,
            String clients, String clientsOptions) throws Exception {
        try (Running server = Perftest.startAsUsersDo(Command::start, servers, serversOptions,
                "-p", "0");
                Running client = Perftest.startAsUsersDo(Command::start, clients, clientsOptions,
                        "-p", server.port(), Loopback.OWN)) {
            assertThat(client.awaitEnd()).isEqualTo(1);
            assertThat(server.awaitEnd()).isEqualTo(1);
            assertThat(server.lastLine() + client.lastLine()).contains("both sides need the same");
        }
    }

    /** What is lost of the warm-up is no failure, also if only one side notices. What counts may be lost, too. */
    @Test
    void warmUpSurvivesLosses() throws Exception {
        assertSurvivesLosses("ib_send_bw", "-c UC -b -e -q 2 -s 5000");
    }

    @ParameterizedTest
    @CsvSource({"ib_write_bw, -c UC -b -e -q 2 -s 5000", "ib_write_lat, -c UC",
        "ib_send_lat, -c UD"})
    @Tag("long")
    void warmUpOfEveryKindSurvivesLosses(String tool, String options) throws Exception {
        assertSurvivesLosses(tool, options);
    }

    private static void assertSurvivesLosses(String tool, String options) throws Exception {
        Start lossy = arguments -> Program.withOptions(List.of("-Drdma4j.impair=loss=0.2%"),
                arguments.toArray(String[]::new));
        String all = "-d roce_lo -n 5 " + options;
        try (Running server = Perftest.startAsUsersDo(lossy, tool, all, "-p", "0");
                Running client = Perftest.startAsUsersDo(lossy, tool, all, "-p",
                        server.port(), Loopback.OWN)) {
            client.awaitEnd();
            server.awaitEnd();
            assertThat(client.text()).containsPattern("Warm-up +: ON\n").contains(" #bytes ");
            assertThat(server.text()).containsPattern("Warm-up +: ON\n").contains(" #bytes ");
        }
    }

    /** A peer that knows nothing of it: of what it takes no part in, and of the rest. */
    @ParameterizedTest
    @CsvSource({"ib_write_bw, -n 20, 'ON, of this side'",
        "ib_write_bw, -n 20 -c UC, OFF", "ib_send_bw, -n 20, OFF", "ib_write_bw, -n 20 -b, OFF"})
    void onlyOneSideWarmsUpWithAPeerThatDoesNot(String tool, String options, String told)
            throws Exception {
        List<String> texts = Perftest.runBoth(Command::start, tool, Perftest.atOnce(options),
                "-d roce_lo " + options);
        assertThat(texts.getLast()).containsPattern("Warm-up +: " + told + "\n");
        assertThat(texts.getFirst()).containsPattern("Warm-up +: OFF\n");
    }
}
