// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

@Timeout(30)
class ProcessWatchTest {
    private static final long NOW_NS = 5;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void needsLinux() {
        assumeThat(LinuxNetwork.obstacle()).isNull();
    }

    @AfterEach
    void endAll() throws Exception {
        processes.forEach(Process::destroyForcibly);
        for (Process each : processes) {
            each.waitFor();
        }
    }

    /** {@return a process that waits for the end of its input} */
    private Process start() throws IOException {
        Process process = new ProcessBuilder("cat").start();
        processes.add(process);
        return process;
    }

    private static long identity(Process process) {
        return ProcessIdentity.inThisNamespace(process.pid());
    }

    @Test
    void endOfAProcessEndsAWaitAndIsTakenOnce() throws Exception {
        try (Arena arena = Arena.ofShared(); ProcessWatch watch = new ProcessWatch()) {
            SocketPoller poller = new SocketPoller(arena, watch);
            try {
                Process first = start();
                watch.watch(identity(first), 1);
                watch.watch(identity(start()), 2);
                assertThat(poller.await(0)).as("sockets").isFalse();
                assertThat(watch.isDue(NOW_NS)).isFalse();
                first.destroyForcibly();
                assertThat(poller.await(Long.MAX_VALUE)).as("sockets").isFalse();
                assertThat(watch.isDue(NOW_NS)).isTrue();
                assertThat(watch.takeEnded(NOW_NS)).containsExactly(1L);
                assertThat(watch.isDue(NOW_NS)).isFalse();
                assertThat(poller.await(0)).isFalse();
                assertThat(watch.isDue(NOW_NS)).as("said already").isFalse();
                assertThat(watch.isAnyWatched()).isTrue();
            } finally {
                poller.close();
            }
        }
    }

    @Test
    void whoNeverSleepsAsksOnceInAWhile() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            assertThat(watch.isDue(ProcessWatch.ASK_NS)).as("nobody is watched").isFalse();
            Process process = start();
            watch.watch(identity(process), 7);
            process.destroyForcibly().waitFor();
            assertThat(watch.isDue(NOW_NS)).isFalse();
            assertThat(watch.isDue(ProcessWatch.ASK_NS)).isTrue();
            assertThat(watch.takeEnded(ProcessWatch.ASK_NS)).containsExactly(7L);
            assertThat(watch.isAnyWatched()).isFalse();
        }
    }

    @Test
    void processThatIsForgottenIsNotReported() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process forgotten = start();
            Process kept = start();
            watch.watch(identity(forgotten), 1);
            watch.watch(identity(kept), 2);
            watch.watch(identity(forgotten), 2);
            watch.keepThoseOf(Set.of(2L, 3L));
            forgotten.destroyForcibly().waitFor();
            assertThat(watch.takeEnded(NOW_NS)).isEmpty();
            kept.destroyForcibly().waitFor();
            assertThat(watch.takeEnded(NOW_NS)).containsExactly(2L);
        }
    }

    @Test
    void processThatIsNotToBeSeenIsNotWatched() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process ended = start();
            ended.destroyForcibly().waitFor();
            watch.watch(identity(ended), 1);
            long ofAnotherContainer = identity(start()) ^ 1L << Integer.SIZE;
            watch.watch(ofAnotherContainer, 2);
            assertThat(watch.isAnyWatched()).isFalse();
        }
    }

    @Test
    void aClosedWatchLeavesNoDescriptor() throws LinuxSocket.Refused, IOException {
        ProcessWatch watch = new ProcessWatch();
        watch.watch(identity(start()), 1);
        int before = descriptors();
        watch.close();
        assertThat(descriptors()).isEqualTo(before - 2);
    }

    private static int descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.count();
        }
    }
}
