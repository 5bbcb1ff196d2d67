// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Two hundred processes at one address at once, each of which talks to two others. */
@EnabledOnOs(OS.LINUX)
@Tag("long")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class ManyProcessesTest {
    private static final int PROCESSES = 200;
    /** So many talk at a time, or two processors would be busy with those who wait. */
    private static final int AT_ONCE = 8;
    private static final long MOST_AT_REST = 64L << 20;
    private static final int BLOCK = 512;

    private final List<Program> processes = new ArrayList<>();

    private static Program start() throws IOException {
        return Program.of(Neighbour.class, List.of("-Xmx16m", "-Xss256k"), List.of(Loopback.OWN));
    }

    @Test
    void allOfThemTalkAndLittleIsLeftAtRest() throws Exception {
        long startNs = System.nanoTime();
        try {
            while (processes.size() < PROCESSES) {
                processes.add(start());
            }
            List<String> ports = new ArrayList<>();
            for (Program process : processes) {
                ports.add(process.lineWith("listening").replaceAll("\\D", ""));
            }
            for (int i = 0; i < PROCESSES + AT_ONCE; i++) {
                if (i < PROCESSES) {
                    processes.get(i).tell(ports.get((i + 1) % PROCESSES));
                }
                if (i >= AT_ONCE) {
                    processes.get(i - AT_ONCE).lineWith("has sent");
                }
            }
            for (Program process : processes) {
                process.lineWith("has received");
            }
            long tookNs = System.nanoTime() - startNs;
            assertThat(processes).allMatch(process -> process.process().isAlive());
            long busy = sharedBytes();
            Wait.until("little memory is shared", () -> sharedBytes() <= MOST_AT_REST);
            // What was there for longer than a second without a message is given back.
            Wait.until("no more is given back", new Settled());
            System.out.printf("%d processes had exchanged %d messages each after %d s; they shared"
                    + " %d KiB behind the last, and %d KiB at rest%n", PROCESSES,
                    Neighbour.MESSAGES, TimeUnit.NANOSECONDS.toSeconds(tookNs), busy >> 10,
                    sharedBytes() >> 10);
        } catch (IOException e) {
            for (Program process : processes) {
                if (!process.process().isAlive()) {
                    process.awaitEnd();
                    e.addSuppressed(new IOException("ended: " + process.text()));
                }
            }
            throw e;
        } finally {
            processes.forEach(Program::close);
        }
    }

    /** Holds when what is shared has been the same for as long as rings wait with giving back. */
    private final class Settled implements Wait.Condition<Exception> {
        private static final long LONG_NS = 15_000_000_000L;

        private long bytes;
        private long sinceNs = System.nanoTime();

        @Override
        public boolean holds() throws Exception {
            long now = sharedBytes();
            if (now != bytes) {
                bytes = now;
                sinceNs = System.nanoTime();
            }
            return System.nanoTime() - sinceNs > LONG_NS;
        }
    }

    /** {@return the memory that all files take which the processes share, each counted once} */
    private long sharedBytes() throws Exception {
        List<String> command = new ArrayList<>(List.of("stat", "-L", "--format=%d:%i %b"));
        for (Program process : processes) {
            command.addAll(sharedFiles(process));
        }
        Process stat = new ProcessBuilder(command).redirectErrorStream(true).start();
        Map<String, Long> blocks = new HashMap<>();
        for (String line : stat.inputReader(StandardCharsets.UTF_8).lines().toList()) {
            // What has been closed meanwhile is an error message.
            if (line.matches("[0-9]+:[0-9]+ [0-9]+")) {
                String[] words = line.split(" ", -1);
                blocks.put(words[0], Long.parseLong(words[1]));
            }
        }
        stat.waitFor();
        // Each process has memory that the others write to, and all have the table.
        assertThat(blocks).hasSizeGreaterThan(PROCESSES);
        return blocks.values().stream().mapToLong(each -> each * BLOCK).sum();
    }

    private static List<String> sharedFiles(Program process) throws IOException {
        List<String> files = new ArrayList<>();
        try (DirectoryStream<Path> all = Files
                .newDirectoryStream(Path.of("/proc", process.pid(), "fd"))) {
            for (Path each : all) {
                if (isShared(each)) {
                    files.add(each.toString());
                }
            }
        }
        return files;
    }

    private static boolean isShared(Path descriptor) throws IOException {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("/memfd:rdma4j") || target.contains("/port4791-");
        } catch (NoSuchFileException closedMeanwhile) {
            return false;
        }
    }
}
