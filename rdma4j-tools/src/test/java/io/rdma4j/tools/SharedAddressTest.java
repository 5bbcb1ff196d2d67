package io.rdma4j.tools;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** Processes at one address, as two terminals start them. */
@EnabledOnOs(OS.LINUX)
class SharedAddressTest {
    private static final String FIRST = "-a " + Loopback.OWN + " -p " + Loopback.PORT;
    private static final String SECOND = "-a " + Loopback.OWN + " -p " + (Loopback.PORT + 1);

    /** So many that they last while a process is killed, and that their output fits into a pipe that is not read yet. */
    private static final int PINGS = 700;

    private static Program process(String line) throws Exception {
        return new Program(line.split(" ", -1));
    }

    @Test
    void aKilledProcessLeavesTheOthersConnected() throws Exception {
        try (Program doomed = process("rping -s -v -P " + FIRST);
                Program server = process("rping -s -v " + SECOND)) {
            doomed.lineWith("listening");
            server.lineWith("listening");
            try (Program orphan = process("rping -c -v --patience 1 " + FIRST);
                    Program client = process("rping -c -v -C " + PINGS + " " + SECOND)) {
                orphan.lineWith("rdma-ping-3");
                client.lineWith("rdma-ping-3");

                doomed.process().destroyForcibly().waitFor();

                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(orphan.awaitEnd()).as(orphan.text()).isNotZero();
            }
        }
    }

    @Test
    void aPortBelongsToOneProcess() throws Exception {
        try (Program first = process("rping -s -v -P " + FIRST)) {
            first.lineWith("listening");
            try (Program second = process("rping -s " + FIRST)) {
                assertThat(second.awaitEnd()).isOne();
                assertThat(second.text())
                        .contains("port " + Loopback.PORT + " is held by process " + first.pid());
            }
        }
    }
}
