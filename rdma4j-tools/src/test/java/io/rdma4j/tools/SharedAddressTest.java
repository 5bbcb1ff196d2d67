// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Processes at one address, as two terminals start them. Clients are in this process, which shares it with the servers. */
@Tag("processes")
@EnabledOnOs(OS.LINUX)
@ExtendWith(NothingStaysOpen.class)
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
            try (Command orphan = Command.start("rping -c -v --patience 1 " + FIRST);
                    Command client = Command.start("rping -c -v -C " + PINGS + " " + SECOND)) {
                orphan.lineWith("rdma-ping-3");
                client.lineWith("rdma-ping-3");

                doomed.process().destroyForcibly().waitFor();

                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                assertThat(orphan.awaitEnd()).as(orphan.text()).isNotZero();
            }
        }
    }

    /** A login has the variable, a service has none. */
    @Test
    void theEnvironmentDecidesNothing(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        String session = folder.toString();
        try (Program server = process("rping -s -v -P " + FIRST);
                Program other = Program.with(
                        Map.of("XDG_RUNTIME_DIR", session, "TMPDIR", session, "HOME", session),
                        ("rping -s -v -P " + SECOND).split(" ", -1))) {
            server.lineWith("listening");
            other.lineWith("listening");
            assertReached(FIRST);
            assertReached(SECOND);
        }
    }

    private static void assertReached(String where) throws Exception {
        try (Command client = Command.start("rping -c -C 1 " + where)) {
            assertThat(client.awaitEnd()).as(client.text()).isZero();
        }
    }

    /** None of them can tell the new one where the others are. */
    @Test
    void whoStartsWhileTheOthersAreStoppedSharesWithThem() throws Exception {
        try (Program stopped = process("rping -s -v -P " + FIRST)) {
            stopped.lineWith("listening");
            signal("STOP", stopped);
            try (Program server = process("rping -s -v -P " + SECOND)) {
                server.lineWith("listening");
                assertReached(SECOND);
                signal("CONT", stopped);
                assertReached(FIRST);
                stopped.end();
                assertReached(SECOND);
            }
        }
    }

    private static void signal(String name, Program target) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, target.pid()).start().waitFor()).isZero();
    }

    @Test
    void aPortBelongsToOneProcess() throws Exception {
        try (Program first = process("rping -s -v -P " + FIRST)) {
            first.lineWith("listening");
            try (Command second = Command.start("rping -s " + FIRST)) {
                assertThat(second.awaitEnd()).isOne();
                assertThat(second.text())
                        .contains("port " + Loopback.PORT + " is held by process " + first.pid());
            }
        }
    }
}
