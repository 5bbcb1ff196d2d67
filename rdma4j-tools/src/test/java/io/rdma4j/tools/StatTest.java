package io.rdma4j.tools;

import io.rdma4j.verbs.Counter;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;

import static org.assertj.core.api.Assertions.assertThat;

/** The counters of another process, as {@code rdma4j stat} shows them. */
class StatTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return Main.commandLine().setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(arguments);
    }

    private void assertFails(int status, String words, String... arguments) {
        assertThat(run(arguments)).isEqualTo(status);
        assertThat(err.toString().strip()).doesNotContain("\n").doesNotContain("Exception")
                .contains(words);
        assertThat(out.toString()).isEmpty();
    }

    private static Program target(String... options) throws IOException {
        return Program.of(StatTarget.class, options);
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
    void countersThatMovedAreShownByTheirLinuxNames() throws Exception {
        try (Program target = target("-Drdma4j.impair=duplicate=1%,seed=3")) {
            String sender = line(target).replaceAll(".* ", "");
            assertThat(run("stat", target.pid(), "--qp")).as(err.toString()).isZero();
            assertThat(out.toString())
                    .startsWith("process " + target.pid() + " (" + StatTarget.class.getName() + ")")
                    .containsPattern(
                            "  roce_lo: .*::ffff:127\\.0\\.0\\..*; 1 context, 2 queue pairs")
                    .contains("; impaired: duplicate=0.01,seed=3")
                    .containsPattern("\n    sent_pkts +2\n")
                    .containsPattern("\n    rdma_sends +1\n")
                    .containsPattern("\n    queue pair " + sender
                            + " RC RTS, peer 127\\.0\\.0\\.\\d+ 0x[0-9a-f]{6}\n")
                    .containsPattern("\n      rdma_recvs +1\n").doesNotContain("send_err");
        }
    }

    @Test
    void allCountersAreShownWhenAskedFor() throws Exception {
        try (Program target = target()) {
            line(target);
            assertThat(run("stat", target.pid(), "-a", "-d", "roce_lo")).isZero();
            for (Counter counter : Counter.values()) {
                assertThat(out.toString()).containsPattern("\n    " + counter.text() + " +\\d+\n");
            }
        }
    }

    @Test
    void everyProcessIsFound() throws Exception {
        try (Program first = target(); Program second = target()) {
            line(first);
            line(second);
            assertThat(run("stat")).isZero();
            assertThat(out.toString()).contains("process " + first.pid() + " ",
                    "process " + second.pid() + " ");
        }
    }

    @Test
    void jsonHasAllValuesOnOneLine() throws Exception {
        try (Program target = target()) {
            line(target);
            assertThat(run("stat", target.pid(), "--qp", "--json")).isZero();
            assertThat(out.toString().lines()).hasSize(1);
            assertThat(out.toString()).startsWith("[{\"pid\":" + target.pid() + ",\"program\":\""
                    + StatTarget.class.getName() + "\",\"device\":\"roce_lo\",\"gids\":[\"")
                    .contains(
                            "\"contexts\":1,\"capture\":\"\",\"impairment\":\"none\",\"counters\":{"
                                    + "\"sent_pkts\":2,\"rcvd_pkts\":2,\"duplicate_request\":0,",
                            "\"queue_pairs\":[{\"number\":", "\"type\":\"RC\",\"state\":\"RTS\"")
                    .endsWith("}]}]" + System.lineSeparator());
        }
    }

    @Test
    void watchingShowsWhatWasAddedAndEndsWithTheProcess() throws Exception {
        try (Program target = target()) {
            line(target);
            try (Program stat = new Program("stat", target.pid(), "--watch", "0.05")) {
                assertThat(stat.lineWith("rdma_sends")).matches(" +rdma_sends +1");
                sendMore(target);
                assertThat(stat.lineWith("+1")).contains("+");
                target.end();
                assertThat(stat.awaitEnd()).isZero();
            }
        }
    }

    @Test
    void watchThatWouldTakeAnHourEndsWithTheProcessOrWhenInterrupted() throws Exception {
        try (Program target = target()) {
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
        try (Program other = target("-Drdma4j.jmx=false")) {
            line(other);
            assertFails(1, "process " + other.pid() + " has no rdma4j device open", "stat",
                    other.pid());
        }
        err.getBuffer().setLength(0);
        assertFails(1, "process 999999999 is no running JVM", "stat", "999999999");
        err.getBuffer().setLength(0);
        assertFails(1, "no running JVM of this user has no_such_device open", "stat", "-d",
                "no_such_device");
    }

    @Test
    void wrongArgumentsAreOneLineAndStatusTwo() {
        assertFails(2, "PID", "stat", "many");
        err.getBuffer().setLength(0);
        assertFails(2, "--watch", "stat", "--watch", "0");
    }

    @Test
    void helpNamesTheOptions() {
        assertThat(run("stat", "--help")).isZero();
        assertThat(out.toString()).contains("Usage: rdma4j stat", "--qp", "--watch", "--json");
    }
}
