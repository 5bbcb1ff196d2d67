// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.examples.TwoSides;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.FutureTask;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What the answers of the course say happens. */
class AnswersTest {
    private static final InetAddress ADDRESS = TwoSides.ownLoopbackAddress();
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration SHORT = Duration.ofMillis(20);

    private interface WithPair {
        void run(Pair pair, MemoryRegion client, MemoryRegion server) throws Exception;
    }

    private interface WithQueuePairs {
        void run(QueuePair left, QueuePair right, CompletionQueue queue, MemoryRegion region)
                throws Exception;
    }

    /** @param access what the client may do to the server's memory */
    private static void connected(Set<AccessFlag> access, WithPair test) throws Exception {
        try (Arena arena = Arena.ofShared();
                Pair pair = Pair.connect(ADDRESS);
                MemoryRegion client = pair.client.registerMessages(arena.allocate(96, 8));
                MemoryRegion server = pair.server.protectionDomain()
                        .register(arena.allocate(96, 8), access)) {
            test.run(pair, client, server);
        }
    }

    private static void created(WithQueuePairs test) throws Exception {
        try (Arena arena = Arena.ofShared();
                CompletionChannel channel = CompletionChannel.create();
                DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(32, channel);
                QueuePair left = Lesson06.create(domain, queue);
                QueuePair right = Lesson06.create(domain, queue);
                MemoryRegion region = domain.register(arena.allocate(64),
                        AccessFlag.LOCAL_WRITE)) {
            test.run(left, right, queue, region);
        }
    }

    private static void assertRefused(Errno errno, ThrowingCallable call, String word) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .withMessageContaining(word);
    }

    private static WorkCompletion awaitOne(CompletionQueue queue, Duration limit)
            throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        long endNs = System.nanoTime() + limit.toNanos();
        while (!queue.poll(completion)) {
            assertThat(System.nanoTime()).isLessThan(endNs);
        }
        return completion;
    }

    @Test
    void lesson1QueueIsFullAfterAsManyRequestsAsItWasMadeFor() throws Exception {
        created((left, right, queue, region) -> {
            Lesson06.connect(left, right);
            int room = left.capabilities().maxReceiveRequests();
            for (int i = 0; i < room; i++) {
                left.postReceive(new ReceiveWorkRequest().add(region, 0, 8));
            }
            assertRefused(Errno.ENOMEM,
                    () -> left.postReceive(new ReceiveWorkRequest().add(region, 0, 8)), "");
        });
    }

    @Test
    void lesson2RegionForReadingNeedsNoOtherFlag() throws Exception {
        connected(Set.of(AccessFlag.REMOTE_READ), (pair, client, server) -> {
            server.segment().setString(0, "table");
            pair.client.postRead(1, client, 0, 6, server.address(), server.rkey(),
                    SendFlag.SIGNALED);
            pair.client.awaitSendCompletion().requireSuccess("read");
            assertThat(client.segment().getString(0)).isEqualTo("table");
        });
    }

    @Test
    void lesson2AccessFailsOnceTheArenaIsClosed() throws Exception {
        connected(Set.of(AccessFlag.REMOTE_READ), (pair, client, server) -> {
            Arena arena = Arena.ofShared();
            try (MemoryRegion region = pair.client.registerMessages(arena.allocate(8))) {
                arena.close();
                pair.client.postSend(1, region, 0, 8, SendFlag.SIGNALED);
                assertThat(pair.client.awaitSendCompletion().isSuccess()).isFalse();
            }
        });
    }

    @Test
    void lesson2MemoryOfOneThreadIsRefused() throws Exception {
        connected(Set.of(), (pair, client, server) -> {
            try (Arena arena = Arena.ofConfined()) {
                assertRefused(Errno.EINVAL, () -> pair.client.registerMessages(arena.allocate(8)),
                        "confined");
            }
        });
    }

    @Test
    void lesson4FirstMessageTakesTheReceiveThatWasPostedFirst() throws Exception {
        connected(Set.of(AccessFlag.LOCAL_WRITE), (pair, client, server) -> {
            for (int place = 2; place >= 0; place--) {
                pair.server.postReceive(place, server, place * 32L, 32);
            }
            for (String text : new String[]{"one", "two", "three"}) {
                client.segment().setString(0, text);
                pair.client.postSend(1, client, 0, 32, SendFlag.SIGNALED);
                pair.client.awaitSendCompletion().requireSuccess("send");
            }
            for (int i = 0; i < 3; i++) {
                pair.server.awaitReceiveCompletion().requireSuccess("receive");
            }
            assertThat(server.segment().getString(64)).isEqualTo("one");
            assertThat(server.segment().getString(32)).isEqualTo("two");
            assertThat(server.segment().getString(0)).isEqualTo("three");
        });
    }

    @Test
    void lesson4SendThatIsNotSignaledIsNotAwaited() throws Exception {
        connected(Set.of(), (pair, client, server) -> {
            pair.client.postSend(1, client, 0, 8);
            assertThatIllegalStateException().isThrownBy(pair.client::awaitSendCompletion)
                    .withMessageContaining("SIGNALED");
        });
    }

    @Test
    void lesson5ServerMayReadFromTheClient() throws Exception {
        connected(Set.of(AccessFlag.LOCAL_WRITE), (pair, client, server) -> {
            try (MemoryRegion readable = pair.client.registerRead(client.segment())) {
                client.segment().setString(0, "of the client");
                pair.server.postRead(1, server, 0, 16, readable.address(), readable.rkey(),
                        SendFlag.SIGNALED);
                pair.server.awaitSendCompletion().requireSuccess("read");
                assertThat(server.segment().getString(0)).isEqualTo("of the client");
            }
        });
    }

    @Test
    void lesson5NothingIsWrittenWithoutTheRight() throws Exception {
        connected(Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ),
                (pair, client, server) -> {
                    client.segment().fill((byte) 7);
                    pair.client.postWrite(1, client, 0, 8, server.address(), server.rkey(),
                            SendFlag.SIGNALED);
                    assertThat(pair.client.awaitSendCompletion().status())
                            .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
                    assertThat(server.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
                });
    }

    @Test
    void lesson5WriteWithImmediateWaitsForAReceive() throws Exception {
        connected(Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE),
                (pair, client, server) -> {
                    pair.client.queuePair().postSend(new SendWorkRequest()
                            .writeWithImmediate(server.address(), server.rkey(), 5)
                            .add(client, 0, 8).set(SendFlag.SIGNALED));
                    assertThat(pair.client.pollSendCompletion(SHORT)).isNull();
                    pair.server.queuePair().postReceive(new ReceiveWorkRequest());
                    pair.client.awaitSendCompletion().requireSuccess("write");
                    assertThat(pair.server.awaitReceiveCompletion().immediate()).isEqualTo(5);
                });
    }

    @Test
    void lesson6MissingAttributeIsNamed() throws Exception {
        created((left, right, queue, region) -> {
            toInit(left);
            assertRefused(Errno.EINVAL, () -> left.modify(toReadyToReceive(left, right)
                    .unset(QueuePairAttribute.RECEIVE_PSN)), "RECEIVE_PSN");
        });
    }

    @Test
    void lesson6WrongSequenceNumberEndsAfterAllRetries() throws Exception {
        created((left, right, queue, region) -> {
            bringUpWrongly(left, right);
            bringUpWrongly(right, left);
            right.postReceive(new ReceiveWorkRequest().add(region, 32, 32));
            left.postSend(new SendWorkRequest().send().add(region, 0, 8).set(SendFlag.SIGNALED));
            assertThat(awaitOne(queue, Duration.ofSeconds(10)).status())
                    .isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
        });
    }

    @Test
    void lesson6ThereIsNoWayFromInitToReadyToSend() throws Exception {
        created((left, right, queue, region) -> {
            toInit(left);
            assertRefused(Errno.EINVAL, () -> left.modify(new QueuePairAttributes()
                    .state(QueuePairState.RTS).sendPsn(0).ackTimeoutExponent(14).retryCount(7)
                    .rnrRetry(7).maxReadAtomic(1)), "INIT");
        });
    }

    /** The peer expects the number 0 first. */
    private static void bringUpWrongly(QueuePair pair, QueuePair peer) throws RdmaException {
        toInit(pair);
        pair.modify(toReadyToReceive(pair, peer));
        pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0x500000)
                .ackTimeoutExponent(10).retryCount(3).rnrRetry(7).maxReadAtomic(1));
    }

    private static void toInit(QueuePair pair) throws RdmaException {
        pair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(Set.of()));
    }

    private static QueuePairAttributes toReadyToReceive(QueuePair pair, QueuePair peer)
            throws RdmaException {
        DeviceContext context = pair.protectionDomain().context();
        return new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(context.queryGid(1, 0), 0))
                .destinationQueuePairNumber(peer.number()).receivePsn(0)
                .pathMtu(context.queryPort(1).activeMtu()).maxDestinationReadAtomic(1)
                .minRnrTimerCode(12);
    }

    @Test
    void lesson7NobodyIsWokenWhoDidNotAsk() throws Exception {
        created((left, right, queue, region) -> {
            Lesson06.connect(left, right);
            right.postReceive(new ReceiveWorkRequest().add(region, 32, 32));
            left.postSend(new SendWorkRequest().send().add(region, 0, 8));
            awaitOne(queue, TIMEOUT);
            CompletionChannel channel = queue.channel();
            assertThat(channel).isNotNull();
            assertThat(channel.pollEvent(SHORT)).isNull();
        });
    }

    private interface WithDatagrams {
        void run(CmId client, CmId server, DatagramParameters service) throws Exception;
    }

    private static void datagrams(WithDatagrams test) throws Exception {
        try (CmId listener = CmId.create(PortSpace.UDP);
                CmId client = CmId.create(PortSpace.UDP)) {
            listener.bindAddress(new InetSocketAddress(ADDRESS, 0));
            listener.listen(1);
            client.resolveAddress(listener.localAddress(), TIMEOUT);
            client.createQueuePair();
            client.resolveRoute(TIMEOUT);
            FutureTask<CmId> accepting = new FutureTask<>(() -> {
                CmId id = listener.awaitRequest();
                id.createQueuePair();
                id.accept();
                return id;
            });
            Thread.ofVirtual().start(accepting);
            client.connect();
            try (CmId server = accepting.get()) {
                DatagramParameters service = requireNonNull(
                        requireNonNull(client.event()).datagram());
                test.run(client, server, service);
                client.closeQueuePair();
                server.closeQueuePair();
            }
        }
    }

    @Test
    void lesson8DatagramThatDoesNotFitIsDropped() throws Exception {
        datagrams((client, server, service) -> {
            try (Arena arena = Arena.ofShared();
                    MemoryRegion region = client.registerMessages(arena.allocate(256));
                    AddressHandle there = client.protectionDomain()
                            .createAddressHandle(service.path())) {
                server.postReceive(1, region, 64, 24);
                client.postDatagram(2, region, 0, 5, there, service, SendFlag.SIGNALED);
                client.awaitSendCompletion().requireSuccess("send");
                WorkCompletion completion = server.pollReceiveCompletion(SHORT);
                assertThat(completion == null || !completion.isSuccess()).isTrue();
            }
        });
    }

    @Test
    void lesson8DatagramIsNoLongerThanThePathMtu() throws Exception {
        datagrams((client, server, service) -> {
            try (Arena arena = Arena.ofShared();
                    MemoryRegion region = client.registerMessages(arena.allocate(8192));
                    AddressHandle there = client.protectionDomain()
                            .createAddressHandle(service.path())) {
                WorkCompletionStatus status;
                try {
                    client.postDatagram(2, region, 0, 5000, there, service, SendFlag.SIGNALED);
                    status = client.awaitSendCompletion().status();
                } catch (RdmaException refused) {
                    status = WorkCompletionStatus.LOCAL_LENGTH_ERROR;
                }
                assertThat(status).isEqualTo(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
            }
        });
    }

    @Test
    void lesson9TwoClientsLoseNoAddition() throws Exception {
        try (Arena arena = Arena.ofShared();
                Pair first = Pair.connect(ADDRESS);
                Pair second = Pair.connect(ADDRESS)) {
            MemorySegment counter = arena.allocate(8, 8);
            FutureTask<Void> other = new FutureTask<>(() -> addOften(second, counter));
            Thread.ofPlatform().start(other);
            addOften(first, counter);
            other.get();
            assertThat(counter.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(400);
        }
    }

    private static Void addOften(Pair pair, MemorySegment counter) throws RdmaException {
        try (Arena arena = Arena.ofShared();
                MemoryRegion remote = pair.server.protectionDomain().register(counter,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
                MemoryRegion local = pair.client.registerMessages(arena.allocate(8, 8))) {
            for (int i = 0; i < 200; i++) {
                pair.client.queuePair().postSend(new SendWorkRequest().add(local, 0, 8)
                        .fetchAndAdd(remote.address(), remote.rkey(), 1).set(SendFlag.SIGNALED));
                pair.client.awaitSendCompletion().requireSuccess("add");
            }
        }
        return null;
    }

    @Test
    void lesson9OneOfTwoTakesTheLock() throws Exception {
        try (Arena arena = Arena.ofShared();
                Pair first = Pair.connect(ADDRESS);
                Pair second = Pair.connect(ADDRESS)) {
            MemorySegment lock = arena.allocate(8, 8);
            assertThat(swap(first, lock, 0, 1)).isZero();
            assertThat(swap(second, lock, 0, 2)).isEqualTo(1);
            assertThat(swap(first, lock, 1, 0)).isEqualTo(1);
            assertThat(swap(second, lock, 0, 2)).isZero();
        }
    }

    private static long swap(Pair pair, MemorySegment lock, long expected, long value)
            throws RdmaException {
        try (Arena arena = Arena.ofShared();
                MemoryRegion remote = pair.server.protectionDomain().register(lock,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
                MemoryRegion local = pair.client.registerMessages(arena.allocate(8, 8))) {
            pair.client.queuePair().postSend(new SendWorkRequest().add(local, 0, 8)
                    .compareAndSwap(remote.address(), remote.rkey(), expected, value)
                    .set(SendFlag.SIGNALED));
            pair.client.awaitSendCompletion().requireSuccess("compare and swap");
            return local.segment().get(ValueLayout.JAVA_LONG, 0);
        }
    }
}
