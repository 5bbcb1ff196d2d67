// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

@Timeout(60)
class ProcessWatchTest {
    private static final long NOW_NS = 5;
    private static final int MANY = 100;
    private static final Gid ADDRESS = Gid.of(InetAddress.ofLiteral("127.0.0.9"));

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

    /** {@return what a process has whose queue pairs have a prefix} */
    private static ProcessWatch.Peer peer(int prefix) {
        return ProcessWatch.Peer.of(ADDRESS, prefix, prefix << 16 | 5);
    }

    private static List<ProcessWatch.Peer> ended(ProcessWatch watch, long nowNs) {
        watch.look(nowNs);
        return watch.ended();
    }

    @Test
    void endOfAProcessEndsAWait() throws Exception {
        try (Arena arena = Arena.ofShared(); ProcessWatch watch = new ProcessWatch()) {
            SocketPoller poller = new SocketPoller(arena, watch);
            try {
                Process first = start();
                assertThat(watch.watch(identity(first), peer(1))).isTrue();
                assertThat(watch.watch(identity(start()), peer(2))).isTrue();
                assertThat(poller.await(0)).as("sockets").isFalse();
                assertThat(ended(watch, NOW_NS)).isEmpty();
                first.destroyForcibly();
                assertThat(poller.await(Long.MAX_VALUE)).as("sockets").isFalse();
                assertThat(watch.ended()).as("before anybody has looked").isEmpty();
                assertThat(ended(watch, NOW_NS)).containsExactly(peer(1));
                ended(watch, NOW_NS).clear();
                assertThat(poller.await(0)).isFalse();
                assertThat(ended(watch, NOW_NS)).as("said already").isEmpty();
            } finally {
                poller.close();
            }
        }
    }

    @Test
    void whoNeverSleepsAsksOnceInAWhile() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process process = start();
            watch.watch(identity(process), peer(7));
            process.destroyForcibly().waitFor();
            assertThat(ended(watch, NOW_NS)).isEmpty();
            assertThat(ended(watch, ProcessWatch.ASK_NS)).containsExactly(peer(7));
        }
    }

    @Test
    void allThatAProcessHasEndsWithIt() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process process = start();
            assertThat(watch.watch(identity(process), peer(1))).isTrue();
            assertThat(watch.watch(identity(process), peer(2))).isFalse();
            assertThat(watch.watch(identity(process), peer(1))).isFalse();
            process.destroyForcibly().waitFor();
            assertThat(ended(watch, ProcessWatch.ASK_NS)).containsExactly(peer(1), peer(2));
            assertThat(peer(2).had(2 << 16 | 77)).isTrue();
            assertThat(peer(2).had(1 << 16 | 77)).isFalse();
        }
    }

    @Test
    void manyMayEndAtOnce() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            for (int i = 1; i <= MANY; i++) {
                watch.watch(identity(start()), peer(i));
            }
            endAll();
            assertThat(ended(watch, ProcessWatch.ASK_NS)).hasSize(MANY).doesNotHaveDuplicates();
        }
    }

    @Test
    void processThatIsNotThereHasEnded() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process ended = start();
            ended.destroyForcibly().waitFor();
            assertThat(watch.watch(identity(ended), peer(1))).isFalse();
            assertThat(ended(watch, NOW_NS)).containsExactly(peer(1));
        }
    }

    /** Whose number another one has by now, as its caller finds out. */
    @Test
    void processThatIsKnownToHaveEndedIsWatchedNoLonger() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process other = start();
            watch.watch(identity(other), peer(1));
            watch.end(identity(other));
            watch.end(identity(other));
            other.destroyForcibly().waitFor();
            assertThat(ended(watch, ProcessWatch.ASK_NS)).containsExactly(peer(1));
        }
    }

    @Test
    void processOfAnotherContainerIsNotWatched() throws Exception {
        try (ProcessWatch watch = new ProcessWatch()) {
            Process process = start();
            assertThat(watch.watch(identity(process) ^ 1L << Integer.SIZE, peer(1))).isFalse();
            process.destroyForcibly().waitFor();
            assertThat(ended(watch, ProcessWatch.ASK_NS)).isEmpty();
        }
    }

    @Test
    void watchLeavesNoDescriptor() throws LinuxSocket.Refused, IOException {
        long before = descriptors();
        ProcessWatch watch = new ProcessWatch();
        watch.watch(identity(start()), peer(1));
        assertThat(descriptors()).isEqualTo(before + 1);
        watch.close();
        assertThat(descriptors()).isEqualTo(before);
    }

    /** {@return how many descriptors of processes this one has} */
    private static long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(ProcessWatchTest::isOfProcess).count();
        }
    }

    private static boolean isOfProcess(Path file) {
        try {
            return Files.readSymbolicLink(file).toString().contains("pidfd");
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}
