// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.protocol.count.Counter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The counters of another process, as {@code rdma4j stat} shows them. */
@Tag("processes")
@ExtendWith(NothingStaysOpen.class)
class StatTest {
    /** Two programs that have sent a message each and then do nothing; packets of the second are impaired. */
    private record Targets(Program plain, Program impaired, String impairedSender) {
        void close() {
            plain.close();
            impaired.close();
        }
    }

    private static @Nullable Targets started;

    private final Targets targets = Objects.requireNonNull(started);
    private final Invocation tools = new Invocation();

    @BeforeAll
    static void startTargets() throws IOException {
        Program plain = target(Loopback.OWN);
        Program impaired = target(Loopback.OTHER, "-Drdma4j.impair=duplicate=1%,seed=3");
        line(plain);
        started = new Targets(plain, impaired, line(impaired).replaceAll(".* ", ""));
    }

    @AfterAll
    static void endTargets() {
        if (started != null) {
            started.close();
        }
    }

    private int run(String... arguments) {
        return tools.run(List.of(arguments));
    }

    private void assertFails(int status, String words, String... arguments) {
        tools.assertFails(status, List.of(arguments), words);
        assertThat(tools.out()).isEmpty();
    }

    private static Program target(String address, String... options) throws IOException {
        return Program.of(StatTarget.class, List.of(options), List.of(address));
    }

    private static void sendMore(Program target) throws IOException {
        target.process().getOutputStream().write('\n');
        target.process().getOutputStream().flush();
        line(target);
    }

    private static String line(Program target) throws IOException {
        return target.lineWith("");
    }

    @Test
    void countersThatMovedAreShownByTheirLinuxNames() {
        String pid = targets.impaired().pid();
        assertThat(run("stat", pid, "--qp")).as(tools.err()).isZero();
        assertThat(tools.out())
                .startsWith("process " + pid + " (" + StatTarget.class.getName() + ")")
                .containsPattern("  roce_lo: .*::ffff:127\\..*; 1 context, 2 queue pairs")
                .contains("; impaired: duplicate=0.01,seed=3")
                .containsPattern("\n    sent_pkts +2\n").containsPattern("\n    rdma_sends +1\n")
                .containsPattern("\n    queue pair " + targets.impairedSender()
                        + " RC RTS, peer " + Pattern.quote(Loopback.OTHER)
                        + " 0x[0-9a-f]{6}, way network\n")
                .containsPattern("\n      rdma_recvs +1\n").doesNotContain("send_err");
    }

    @Test
    void allCountersAreShownWhenAskedFor() {
        assertThat(run("stat", targets.plain().pid(), "-a", "-d", "roce_lo")).isZero();
        for (Counter counter : Counter.values()) {
            assertThat(tools.out()).containsPattern("\n    " + counter.text() + " +\\d+\n");
        }
    }

    @Test
    void devicesThatAreNotSoftwareShowWhatTheirDriversCount() throws Exception {
        try (Program foreign = Program.of(ForeignStatTarget.class, List.of(), List.of())) {
            line(foreign);
            assertThat(run("stat", foreign.pid(), "--qp")).as(tools.err()).isZero();
            assertThat(tools.out()).contains(
                    "\n  foreign0: ::ffff:10.0.0.1; 1 context, 1 queue pair\n",
                    "\n    queue pair 0x000011 RC RTS, peer 10.0.0.2 0x000012\n  foreign1: ")
                    .containsPattern("\n    sent_pkts +5\n    out_of_buffer +3\n    queue pair")
                    .containsOnlyOnce("\n    the driver counts nothing\n")
                    .doesNotContain("symbol_error", "all counters are zero", "recorded",
                            "impaired");
        }
    }

    @Test
    void everyProcessIsFound() {
        assertThat(run("stat")).isZero();
        assertThat(tools.out()).contains("process " + targets.plain().pid() + " ",
                "process " + targets.impaired().pid() + " ");
    }

    @Test
    void aStoppedProcessIsLeftOutAndNamed() throws Exception {
        try (Program stopped = target(Loopback.OWN)) {
            line(stopped);
            signal("STOP", stopped);
            try {
                assertThat(run("stat")).as(tools.err()).isZero();
                assertThat(tools.out()).contains("process " + targets.plain().pid() + " ")
                        .doesNotContain("process " + stopped.pid() + " ");
                assertThat(tools.err()).contains(
                        "stat: process " + stopped.pid() + " is stopped, and is left out");
                assertFails(1, "process " + stopped.pid() + " is stopped", "stat",
                        stopped.pid());
            } finally {
                signal("CONT", stopped);
            }
        }
    }

    private static void signal(String name, Program target) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, target.pid()).start().waitFor()).isZero();
    }

    @Test
    void jsonHasAllValuesOnOneLine() {
        String pid = targets.plain().pid();
        assertThat(run("stat", pid, "--qp", "--json")).isZero();
        assertThat(tools.out().lines()).hasSize(1);
        assertThat(tools.out())
                .startsWith("[{\"pid\":" + pid + ",\"program\":\"" + StatTarget.class.getName()
                        + "\",\"device\":\"roce_lo\",\"gids\":[\"")
                .contains("\"contexts\":1,\"capture\":\"\",\"impairment\":\"none\",\"counters\":{"
                        + "\"sent_pkts\":2,\"rcvd_pkts\":2,\"duplicate_request\":0,",
                        "\"queue_pairs\":[{\"number\":", "\"type\":\"RC\",\"state\":\"RTS\"")
                .endsWith("}]}]" + System.lineSeparator());
    }

    @Test
    void prometheusReadsAFamilyForEachCounter() {
        String pid = targets.plain().pid();
        assertThat(run("stat", pid, "--qp", "--prometheus")).isZero();
        String labels = "{pid=\"" + pid + "\",program=\"" + StatTarget.class.getName()
                + "\",device=\"roce_lo\"";
        assertThat(tools.out()).startsWith("# TYPE rdma4j_device_queue_pairs gauge\n"
                + "rdma4j_device_queue_pairs" + labels + "} 2\n")
                .contains("\n# TYPE rdma4j_device_sent_pkts_total counter\n"
                        + "rdma4j_device_sent_pkts_total" + labels + "} 2\n",
                        "\nrdma4j_queue_pair_rdma_sends_total" + labels + ",queue_pair=\"")
                .endsWith("\n");
        assertThat(tools.out().lines()).allMatch(line -> line.matches(
                "# TYPE [a-z0-9_]+ (counter|gauge)|[a-z0-9_]+\\{[^{}]*} \\d+"));
        assertThat(tools.out().lines().filter(line -> line.startsWith("#")))
                .doesNotHaveDuplicates();
        assertFails(2, "--prometheus goes with", "stat", "--prometheus", "--json");
    }

    @Test
    void devicesThatDidNothingAreOnlyNamed() throws Exception {
        try (Program idle = Program.of(IdleStatTarget.class)) {
            idle.lineWith("open");
            assertThat(run("stat", idle.pid())).as(tools.err()).isZero();
            assertThat(tools.out()).endsWith("\n  idle: iwarp_lo\n").doesNotContain("zero");
            assertThat(run("stat", idle.pid(), "-d", "iwarp_lo")).isZero();
            assertThat(tools.out()).contains("  iwarp_lo: ", "all counters are zero");
        }
    }

    @Test
    void watchingShowsWhatWasAddedAndEndsWithTheProcess() throws Exception {
        try (Program target = target(Loopback.OWN)) {
            line(target);
            try (Command stat = Command.start("stat " + target.pid() + " --watch 0.05")) {
                assertThat(stat.lineWith("rdma_sends")).matches(" +rdma_sends +1");
                sendMore(target);
                assertThat(stat.lineWith("  +1  "))
                        .matches(" +\\w+ +\\d+  \\+1  [0-9.]+/s");
                assertThat(stat.text()).containsPattern("\n\n\\d\\d:\\d\\d:\\d\\d\nprocess ");
                target.end();
                assertThat(stat.awaitEnd()).isZero();
            }
        }
    }

    @Test
    void watchGoesOnWhileTheProcessHasNothingOpen() throws Exception {
        try (Program target = Program.of(ReopeningStatTarget.class)) {
            target.lineWith("open");
            try (Command stat = Command.start("stat " + target.pid() + " --watch 0.05")) {
                stat.lineWith("idle: iwarp_lo");
                sendMore(target);
                stat.lineWith("nothing to show");
                sendMore(target);
                stat.lineWith("idle: iwarp_lo");
                target.end();
                assertThat(stat.awaitEnd()).isZero();
            }
        }
    }

    @Test
    void processThatIsStoppedHoldsUpNoOther() throws Exception {
        try (Program stopped = target(Loopback.OWN); Program other = target(Loopback.OTHER)) {
            line(stopped);
            line(other);
            try (Command stat = Command.start("stat --watch 0.05")) {
                stat.lineWith("process " + stopped.pid() + " (");
                signal("STOP", stopped);
                stat.lineWith("process " + stopped.pid() + " is stopped, and is left out");
                stat.lineWith("process " + other.pid() + " (");
                int told = stat.text().length();
                sendMore(other);
                stat.lineWith("  +1  ");
                assertThat(stat.text().substring(told)).doesNotContain("process " + stopped.pid());
                signal("CONT", stopped);
                stat.lineWith("process " + stopped.pid() + " (");
            }
        }
    }

    @Test
    void watchOfAStoppedProcessEndsWithIt() throws Exception {
        try (Program target = target(Loopback.OWN)) {
            line(target);
            try (Command stat = Command.start("stat " + target.pid() + " --watch 0.05")) {
                stat.lineWith("rdma_sends");
                signal("STOP", target);
                stat.lineWith("is stopped, and is left out");
                target.end();
                assertThat(stat.awaitEnd()).isZero();
                assertThat(stat.lastLine()).contains("is stopped, and is left out");
            }
        }
    }

    @Test
    void watchThatWouldTakeAnHourEndsWithTheProcessOrWhenInterrupted() throws Exception {
        try (Program target = target(Loopback.OWN)) {
            line(target);
            try (Command interrupted = Command.start("stat " + target.pid() + " --watch 3600")) {
                interrupted.lineWith("rdma_sends");
                interrupted.end();
                assertThat(interrupted.awaitEnd()).isZero();
                assertThat(interrupted.text()).doesNotContain("stat:", "Exception");
            }
            try (Command stat = Command.start("stat " + target.pid() + " --watch 3600")) {
                stat.lineWith("rdma_sends");
                target.end();
                assertThat(stat.awaitEnd()).isZero();
                assertThat(stat.text()).doesNotContain("stat:", "Exception");
            }
        }
    }

    @Test
    void processesThatHaveNothingToShowAreNamedInOneLine() throws Exception {
        try (Program other = target(Loopback.OWN, "-Drdma4j.jmx=false")) {
            line(other);
            assertFails(1, "process " + other.pid() + " has no rdma4j device open", "stat",
                    other.pid());
        }
        assertFails(1, "process 999999999 is no running JVM", "stat", "999999999");
        // All are asked; each of the others that is just being started, and does not answer, or is stopped, is a line before.
        assertThat(run("stat", "-d", "no_such_device")).isOne();
        List<String> lines = tools.err().strip().lines().toList();
        assertThat(lines.getLast())
                .isEqualTo("stat: no running JVM of this user has no_such_device open");
        assertThat(lines.subList(0, lines.size() - 1))
                .allMatch(each -> each.contains("does not answer within 8 s")
                        || each.endsWith("is stopped, and is left out"));
        assertThat(tools.out()).isEmpty();
    }

    @Test
    void wrongArgumentsAreOneLineAndStatusTwo() {
        assertFails(2, "PID", "stat", "many");
        assertFails(2, "--watch", "stat", "--watch", "0");
    }

    @Test
    void helpNamesTheOptions() {
        assertThat(run("stat", "--help")).isZero();
        assertThat(tools.out()).contains("Usage: rdma4j stat", "--qp", "--watch", "--json");
    }
}
