// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Two processes, of which one ends while it sends. */
@Tag("processes")
class DyingPeerTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void killedPeerIsNoticedByWhoeverSendsToIt() throws Exception {
        WorkCompletion completion = new Course(false).run(Process::destroyForcibly, Course::send);
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
    }

    @Test
    void killedPeerIsNoticedByAProbe() throws Exception {
        // Nothing is under way: over a network nobody else would ever notice.
        WorkCompletion completion = new Course(false).run(Process::destroyForcibly,
                (id, _) -> id.postProbe(9));
        assertThat(completion.id()).isEqualTo(9);
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
    }

    @Test
    void terminatedPeerSaysGoodbye() throws Exception {
        WorkCompletion completion = new Course(true).run(Process::destroy, Course::send);
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    /** Processes of one host that meet in memory. */
    @Nested
    @ExtendWith(ChosenLoopback.Shared.class)
    class InMemory {
        /** The device of this side says so in its place. */
        @Test
        void killedPeerIsDisconnected() throws Exception {
            WorkCompletion completion = new Course(true).run(Process::destroyForcibly,
                    Course::send);
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        }

        @Test
        void killedPeerIsNoticedByWhoeverSendsToIt() throws Exception {
            WorkCompletion completion = new Course(false).run(Process::destroyForcibly,
                    Course::send);
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
        }

        /** No process comes or goes that would have the table looked through. */
        @Test
        void memoryOfAKilledPeerIsGivenBack() throws Exception {
            AtomicLong before = new AtomicLong();
            new Course(true).run(process -> {
                before.set(sharedMemories());
                process.destroyForcibly();
            }, (id, region) -> {
                assertThat(sharedMemories()).isEqualTo(before.get() - 1);
                Course.send(id, region);
            });
        }
    }

    /** How many descriptors of memory that devices share this process has. */
    private static long sharedMemories() {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(DyingPeerTest::isSharedMemory).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isSharedMemory(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("rdma4j-mailbox");
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    /** How the process is ended. */
    private interface End {
        void accept(Process process);
    }

    /** What is posted to the peer after its end. */
    private interface Post {
        void to(CmId id, MemoryRegion region) throws RdmaException;
    }

    private static final class Course implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final boolean disconnects;

        /** @param disconnects whether this side ends the connection when the peer's end is known, before it posts */
        Course(boolean disconnects) {
            this.disconnects = disconnects;
        }

        static void send(CmId id, MemoryRegion region) throws RdmaException {
            id.postSend(9, region, 0, 100, SendFlag.SIGNALED);
        }

        /** {@return what becomes of a request to the peer after its end} */
        WorkCompletion run(End end, Post post) throws Exception {
            try (arena;
                    CmEventChannel events = CmEventChannel.create();
                    CmId listener = CmId.create(events, PortSpace.TCP)) {
                listener.bindAddress(
                        new InetSocketAddress(InetAddress.ofLiteral(CmStage.OWN), 0));
                listener.listen(1);
                Process process = start(listener.localAddress());
                try (CmId id = accept(events)) {
                    MemoryRegion region = id.registerMessages(arena.allocate(DyingPeer.LENGTH));
                    for (int i = 0; i < 3; i++) {
                        id.postReceive(i, region, 0, DyingPeer.LENGTH);
                        assertThat(id.awaitReceiveCompletion().isSuccess()).isTrue();
                    }
                    // One more may be under way when the peer ends; RcErrorTest cuts one in half for sure.
                    id.postReceive(4, region, 0, DyingPeer.LENGTH);
                    end.accept(process);
                    assertThat(process.waitFor(LONG)).isTrue();
                    WorkCompletion completion = postToTheDead(events, id, region, post);
                    id.closeQueuePair();
                    region.close();
                    return completion;
                } finally {
                    process.destroyForcibly();
                }
            }
        }

        private WorkCompletion postToTheDead(CmEventChannel events, CmId id,
                MemoryRegion region, Post post) throws RdmaException {
            if (disconnects) {
                CmEvent event = events.pollEvent(LONG);
                assertThat(event).isNotNull();
                try (event) {
                    assertThat(event.type()).isEqualTo(CmEventType.DISCONNECTED);
                }
                id.disconnect();
            }
            post.to(id, region);
            return id.awaitSendCompletion();
        }

        private static CmId accept(CmEventChannel events) throws RdmaException {
            CmEvent request = events.pollEvent(LONG);
            assertThat(request).isNotNull();
            try (request) {
                request.id().createQueuePair();
                request.id().accept(new ConnectionParameters());
            }
            CmEvent established = events.pollEvent(LONG);
            assertThat(established).isNotNull();
            established.close();
            return request.id();
        }

        private static Process start(InetSocketAddress address) throws Exception {
            return new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    // Without it, it would not meet this process in memory.
                    "--enable-native-access=ALL-UNNAMED", "-cp",
                    System.getProperty("java.class.path"), DyingPeer.class.getName(),
                    address.getAddress().getHostAddress(), String.valueOf(address.getPort()))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
