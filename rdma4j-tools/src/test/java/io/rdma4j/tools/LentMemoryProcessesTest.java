// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Two processes, of which one reads large messages from the memory of the other, whatever becomes of that. */
@Tag("processes")
@EnabledOnOs(OS.LINUX)
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class LentMemoryProcessesTest {
    private static final String ADDRESS = Loopback.OWN;
    /** A process is stopped for so long: the other one may wait for it all the time, so there is nothing to wait for. */
    private static final int STOP_MS = 50;

    private static Program receiver(String loopback) throws IOException {
        return Program.of(Lending.class, List.of("-Drdma4j.loopback=" + loopback),
                List.of(ADDRESS));
    }

    private static Program sender(Program receiver, String end) throws Exception {
        Program sender = Program.of(Lending.class, List.of("-Drdma4j.loopback=auto"),
                List.of(ADDRESS, receiver.port(), end));
        sender.lineWith("begins");
        return sender;
    }

    /** {@return how many sections of other processes it has mapped to read} */
    private static long borrowed(Program program) throws IOException {
        return Files.readAllLines(Path.of("/proc", program.pid(), "maps")).stream()
                .filter(line -> line.contains("rdma4j-memory") && line.contains(" r--s "))
                .count();
    }

    private static void untilItBorrows(Program receiver) throws Exception {
        Wait.until("it reads where the messages are", () -> borrowed(receiver) > 0);
    }

    private static void signal(String name, Program target) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, target.pid()).start().waitFor()).isZero();
    }

    private static void stopForAWhile(Program program) throws Exception {
        signal("STOP", program);
        Thread.sleep(STOP_MS);
        signal("CONT", program);
    }

    /** Waits until it has said something so often. */
    private static void await(Program program, String words, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            program.lineWith(words);
        }
    }

    private static void end(Program sender) throws Exception {
        sender.tell("end");
        assertThat(sender.awaitEnd()).as(sender.text()).isZero();
    }

    /** The receiver ends as soon as a message is not whole. */
    private static void assertAllWereWhole(Program receiver) throws IOException {
        assertThat(receiver.lineWith("whole ")).containsPattern("whole [1-9]");
        assertThat(receiver.process().isAlive()).isTrue();
    }

    /** The sender uses the memory for something else as soon as it is told that its requests are over. */
    @ParameterizedTest
    @CsvSource({"auto, error", "auto, close", "network, error"})
    void everyMessageIsWholeThoughTheSenderBreaksOff(String loopback, String end)
            throws Exception {
        try (Program receiver = receiver(loopback); Program sender = sender(receiver, end)) {
            if (loopback.equals("auto")) {
                untilItBorrows(receiver);
            }
            await(sender, Lending.BROKEN_OFF, end.equals("close") ? 4 : 40);
            end(sender);
            assertAllWereWhole(receiver);
        }
    }

    @Test
    void receiverOutlivesItsSenderAndKeepsNothingOfIt() throws Exception {
        try (Program receiver = receiver("auto"); Program other = sender(receiver, "never")) {
            untilItBorrows(receiver);
            other.process().destroyForcibly().waitFor();
            Wait.until("nothing is mapped any more", () -> borrowed(receiver) == 0);
            assertThat(receiver.process().isAlive()).isTrue();
        }
    }

    @Test
    void receiverThatIsStoppedInTheMiddleGoesOn() throws Exception {
        try (Program receiver = receiver("auto"); Program sender = sender(receiver, "never")) {
            untilItBorrows(receiver);
            for (int i = 0; i < 3; i++) {
                stopForAWhile(receiver);
                await(sender, Lending.GOES_ON, 10);
            }
            end(sender);
            assertAllWereWhole(receiver);
            assertThat(sender.text()).containsPattern("sent [1-9][0-9]* in 1 rounds");
        }
    }

    /** Its sender is flushed meanwhile and writes something else there; the copy that goes on then does not count. */
    @Test
    void receiverThatIsStoppedWhileItsSenderBreaksOffGetsNothingTorn() throws Exception {
        try (Program receiver = receiver("auto"); Program sender = sender(receiver, "error")) {
            untilItBorrows(receiver);
            for (int i = 0; i < 20; i++) {
                stopForAWhile(receiver);
                await(sender, Lending.BROKEN_OFF, 1);
            }
            end(sender);
            assertAllWereWhole(receiver);
        }
    }
}
