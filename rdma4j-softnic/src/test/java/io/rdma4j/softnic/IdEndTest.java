// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** How ids end when something stands in the way, and who wakes whom. */
class IdEndTest extends CmStage {
    private record Ends(CmId client, CmId server) {}

    private Ends connected() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
        CmId server = request();
        server.createQueuePair(reliable());
        server.accept();
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        return new Ends(client, server);
    }

    @Test
    void closingThatFailedIsFinishedByTheNextCall() throws Exception {
        Ends ends = connected();
        CompletionQueue queue = ends.client.queuePair().sendCompletionQueue();
        CompletionChannel channel = queue.channel();
        assertThat(channel).isNotNull();
        MemorySegment memory = Arena.ofAuto().allocate(8);
        try (MemoryRegion region = ends.server.registerMessages(memory)) {
            ends.server.postReceive(1, region, 0, 8);
            announceSend(ends.client, queue, channel);
            assertThat(ends.server.awaitReceiveCompletion().isSuccess()).isTrue();
        }
        InetSocketAddress held = ends.client.localAddress();
        assertRefused(ends.client::close, Errno.EBUSY, "not acknowledged");
        queue.acknowledgeEvents(1);
        ends.client.close();
        ends.client.close();
        CmId successor = id(PortSpace.TCP);
        successor.bindAddress(held);
    }

    /** As a server does whose events are its only list of connections. */
    @Test
    void anIdIsClosedInsideItsOwnEventAfterThatWasAcknowledged() throws Exception {
        Ends ends = connected();
        ends.server.disconnect();
        try (CmEvent event = expect(CmEventType.DISCONNECTED)) {
            CmId id = event.id();
            assertRefused(id::close, Errno.EBUSY, "also the one at hand: CmEvent.acknowledge()");
            event.acknowledge();
            id.close();
            assertThat(event.type()).isEqualTo(CmEventType.DISCONNECTED);
            assertThatIllegalStateException().isThrownBy(id::queuePair)
                    .withMessage("the id is closed");
        }
    }

    private static void announceSend(CmId client, CompletionQueue queue,
            CompletionChannel channel) throws RdmaException {
        queue.requestNotification();
        client.postSend(1, Arena.ofAuto().allocate(8), SendFlag.SIGNALED);
        assertThat(channel.awaitEvent()).isSameAs(queue);
    }

    @Test
    void queuePairClosedBeforeTheReplyEndsInAnError() throws Exception {
        for (boolean isClosedById : new boolean[]{true, false}) {
            CmId listener = listener(PortSpace.TCP, OWN);
            CmId client = id(PortSpace.TCP);
            resolve(client, listener.localAddress());
            client.createQueuePair(reliable());
            client.connect(new ConnectionParameters());
            CmId server = request();
            if (isClosedById) {
                client.closeQueuePair();
            } else {
                client.queuePair().close();
            }
            server.createQueuePair(reliable());
            server.accept();
            try (CmEvent event = expect(CmEventType.CONNECT_ERROR)) {
                assertThat(event.id()).isSameAs(client);
                assertThat(event.description()).contains("closed before the peer accepted");
            }
            try (CmEvent event = expect(CmEventType.REJECTED)) {
                assertThat(event.id()).isSameAs(server);
            }
        }
    }

    @Test
    void deviceIsClosedWithTheLastRegionThatOutlivesTheIds() throws Exception {
        CmId id = id(PortSpace.TCP);
        id.bindAddress(anyPort(OWN));
        MemoryRegion region = id.registerMessages(Arena.ofAuto().allocate(8));
        id.close();
        region.close();
        // In a thread of its own.
        Wait.until("the device has given its address back", IdEndTest::isFree);
    }

    private static boolean isFree() throws SocketException {
        try (DatagramSocket free = new DatagramSocket(
                new InetSocketAddress(InetAddress.ofLiteral(OWN), 4791))) {
            return free.isBound();
        } catch (BindException taken) {
            return false;
        }
    }

    @Test
    void otherIpVersionOfLoopbackIsClaimedWhenItIsNeeded() throws Exception {
        requireIpv6();
        CmId first = id(PortSpace.TCP);
        first.bindAddress(anyPort(OWN));
        CmId second = id(PortSpace.TCP);
        second.resolveAddress(anyPort("::1"), TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED).close();
        assertThat(second.localAddress().getAddress()).isEqualTo(InetAddress.ofLiteral("::1"));
    }

    /** Whatever was bound before it. */
    @Test
    void wildcardListenerIsAtLoopbacksIpv6AddressToo() throws Exception {
        requireIpv6();
        CmId first = id(PortSpace.TCP);
        first.bindAddress(anyPort(OWN));
        CmId server = id(PortSpace.TCP);
        server.bindAddress(new InetSocketAddress(0));
        server.listen(1);
        DeviceContext device = Objects.requireNonNull(first.context());
        assertThat(device.queryGidTable()).extracting(GidEntry::gid)
                .contains(Gid.of(InetAddress.ofLiteral("::1")));
    }

    @Test
    void eachOfSeveralWaitersGetsACompletion() throws Exception {
        Ends ends = connected();
        MemorySegment memory = Arena.ofAuto().allocate(64);
        try (MemoryRegion region = ends.server.registerMessages(memory)) {
            for (int i = 0; i < 4; i++) {
                ends.server.postReceive(i, region, i * 8L, 8);
            }
            assertThat(ends.server.pollReceiveCompletion(Duration.ofMillis(1))).isNull();
            CompletableFuture<?>[] waiters = new CompletableFuture<?>[4];
            Thread[] threads = new Thread[4];
            for (int i = 0; i < 4; i++) {
                CompletableFuture<WorkCompletion> waiter = new CompletableFuture<>();
                waiters[i] = waiter;
                threads[i] = Thread.ofPlatform().daemon().start(() -> {
                    try {
                        waiter.complete(ends.server.awaitReceiveCompletion());
                    } catch (RdmaException e) {
                        waiter.completeExceptionally(e);
                    }
                });
            }
            for (Thread thread : threads) {
                Wait.until("the thread waits", () -> isWaiting(thread));
            }
            for (int i = 0; i < 4; i++) {
                ends.client.postSend(i, memory.asSlice(0, 8));
            }
            CompletableFuture.allOf(waiters).get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void anIdThatBecomesSynchronousAfterItsEndKeepsNobodyWaiting() throws Exception {
        Ends ends = connected();
        MemorySegment memory = Arena.ofAuto().allocate(8);
        try (MemoryRegion region = ends.client.registerMessages(memory)) {
            ends.client.postReceive(1, region, 0, 8);
            ends.server.disconnect();
            expect(CmEventType.DISCONNECTED).close();
            expect(CmEventType.DISCONNECTED).close();
            ends.client.migrate(null);
            assertThat(ends.client.awaitReceiveCompletion().isSuccess()).isFalse();
            assertRefused(ends.client::awaitReceiveCompletion, Errno.ENOTCONN, "state ERR");
        }
    }

    /** {@return whether a thread sleeps} In a system call its state does not say so. */
    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING
                || Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().endsWith(".EngineWaiters"));
    }
}
