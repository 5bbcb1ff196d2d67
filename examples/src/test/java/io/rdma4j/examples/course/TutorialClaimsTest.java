// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.examples.TwoSides;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What tutorials say that is not so, each with what is: the pages {@code corrections.md} of the course name these tests. */
class TutorialClaimsTest {
    private static final InetAddress ADDRESS = TwoSides.ownLoopbackAddress();
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration SHORT = Duration.ofMillis(20);

    private interface WithPair {
        void run(Pair pair, Arena arena) throws Exception;
    }

    private interface ByHand {
        void run(Hand hand) throws Exception;
    }

    /** Two queue pairs of one device and what they need. */
    private record Hand(DeviceContext context, ProtectionDomain domain, CompletionChannel channel,
            CompletionQueue receives, QueuePair left, QueuePair right, MemoryRegion region) {}

    private static void connected(WithPair test) throws Exception {
        try (Arena arena = Arena.ofShared(); Pair pair = Pair.connect(ADDRESS)) {
            test.run(pair, arena);
        }
    }

    private static void byHand(ByHand test) throws Exception {
        try (Arena arena = Arena.ofShared();
                CompletionChannel channel = CompletionChannel.create();
                DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue sends = context.createCompletionQueue(16);
                CompletionQueue receives = context.createCompletionQueue(16, channel);
                QueuePair left = Lesson06.create(domain, sends);
                QueuePair right = Lesson06.create(domain, receives);
                MemoryRegion region = domain.register(arena.allocate(64), AccessFlag.LOCAL_WRITE)) {
            test.run(new Hand(context, domain, channel, receives, left, right, region));
        }
    }

    private static void assertRefused(Errno errno, ThrowingCallable call, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .satisfies(e -> assertThat(words)
                        .allSatisfy(word -> assertThat(e.getMessage()).contains(word)));
    }

    @Test
    void noNicIsNeeded() throws Exception {
        assertThat(RdmaDevices.find("roce_lo").kind()).isEqualTo(DeviceKind.SOFTWARE);
        assertThat(RdmaDevices.find("iwarp_lo").transport()).isEqualTo(TransportType.IWARP);
    }

    @Test
    void listenReturnsAtOnceAndItsArgumentIsTheBacklog() throws Exception {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(ADDRESS, 0));
            listener.listen(2);
            assertThat(listener.pollRequest(Duration.ZERO)).isNull();
        }
    }

    @Test
    void anIdIsAlsoTheEndOfAConnection() throws Exception {
        connected((pair, arena) -> {
            assertThat(pair.client.peerAddress().getAddress()).isEqualTo(ADDRESS);
            assertThat(pair.client.queuePair().state()).isEqualTo(QueuePairState.RTS);
        });
    }

    @Test
    void eventStaysReadableAfterItsAcknowledgement() throws Exception {
        try (CmEventChannel channel = CmEventChannel.create();
                CmId listener = CmId.create(channel, PortSpace.TCP);
                CmId client = resolved(listen(listener))) {
            client.createQueuePair();
            Thread connecting = connecting(client, new byte[]{1, 2, 3});
            CmEvent request = channel.awaitEvent();
            request.acknowledge();
            assertThat(request.privateData()).startsWith(1, 2, 3);
            request.id().close();
            connecting.join();
        }
    }

    private static InetSocketAddress listen(CmId listener) throws RdmaException {
        listener.bindAddress(new InetSocketAddress(ADDRESS, 0));
        listener.listen(2);
        return listener.localAddress();
    }

    private static CmId resolved(InetSocketAddress server) throws RdmaException {
        CmId client = CmId.create(PortSpace.TCP);
        client.resolveAddress(server, TIMEOUT);
        client.resolveRoute(TIMEOUT);
        return client;
    }

    /** Connects in a thread of its own, and expects that this is refused. */
    private static Thread connecting(CmId client, byte[] privateData) {
        return Thread.ofVirtual().start(() -> assertRefused(Errno.ECONNREFUSED, () -> client
                .connect(new ConnectionParameters().privateData(privateData))));
    }

    @Test
    void idWithAnUnacknowledgedEventCannotBeClosed() throws Exception {
        try (CmEventChannel channel = CmEventChannel.create()) {
            CmId id = CmId.create(channel, PortSpace.TCP);
            id.resolveAddress(new InetSocketAddress(ADDRESS, 1), TIMEOUT);
            CmEvent event = channel.awaitEvent();
            assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
            assertRefused(Errno.EBUSY, id::close);
            event.acknowledge();
            id.close();
        }
    }

    @Test
    void queueIsTiedToItsChannelWhenItIsCreated() throws Exception {
        byHand(hand -> {
            assertThat(hand.receives.channel()).isSameAs(hand.channel);
            try (CompletionQueue without = hand.context.createCompletionQueue(4)) {
                assertThat(without.channel()).isNull();
                assertRefused(Errno.EINVAL, without::requestNotification);
            }
        });
    }

    @Test
    void requestOfANotificationBringsOneEvent() throws Exception {
        byHand(hand -> {
            Lesson06.connect(hand.left, hand.right);
            hand.receives.requestNotification();
            for (int i = 0; i < 2; i++) {
                hand.right.postReceive(new ReceiveWorkRequest().add(hand.region, 32, 32));
                hand.left.postSend(new SendWorkRequest().send().add(hand.region, 0, 8));
                awaitOne(hand.receives);
            }
            assertThat(hand.channel.pollEvent(TIMEOUT)).isSameAs(hand.receives);
            assertThat(hand.channel.pollEvent(SHORT)).isNull();
            hand.receives.acknowledgeEvents(1);
        });
    }

    private static WorkCompletion awaitOne(CompletionQueue queue) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        long endNs = System.nanoTime() + TIMEOUT.toNanos();
        while (!queue.poll(completion)) {
            assertThat(System.nanoTime()).isLessThan(endNs);
        }
        return completion;
    }

    @Test
    void flagsAreCombinedByOr() {
        SendWorkRequest request = new SendWorkRequest().set(SendFlag.SIGNALED)
                .set(SendFlag.SOLICITED);
        assertThat(request.flags())
                .isEqualTo(SendFlag.SIGNALED.bit() | SendFlag.SOLICITED.bit());
        // By XOR a flag that is named twice would be gone.
        assertThat(request.set(SendFlag.SIGNALED).has(SendFlag.SIGNALED)).isTrue();
    }

    @Test
    void solicitedWakesThoseThatWaitForSolicitedOnly() throws Exception {
        byHand(hand -> {
            Lesson06.connect(hand.left, hand.right);
            for (boolean solicitedOnly : new boolean[]{true, false}) {
                if (solicitedOnly) {
                    hand.receives.requestSolicitedNotification();
                } else {
                    hand.receives.requestNotification();
                }
                hand.right.postReceive(new ReceiveWorkRequest().add(hand.region, 32, 32));
                hand.left.postSend(new SendWorkRequest().send().add(hand.region, 0, 8));
                awaitOne(hand.receives);
                CompletionQueue woken = hand.channel.pollEvent(solicitedOnly ? SHORT : TIMEOUT);
                assertThat(woken).isSameAs(solicitedOnly ? null : hand.receives);
            }
            hand.receives.acknowledgeEvents(1);
        });
    }

    @Test
    void sendNeedsNoKeyOfThePeerInlineOrNot() throws Exception {
        connected((pair, arena) -> {
            try (MemoryRegion received = pair.server.registerMessages(arena.allocate(64));
                    MemoryRegion sent = pair.client
                            .registerMessages(arena.allocateFrom("by region"))) {
                pair.server.postReceive(1, received, 0, 32);
                pair.server.postReceive(2, received, 32, 32);
                pair.client.postSend(1, sent, 0, 10);
                pair.client.postSend(2, MemorySegment
                        .ofArray("inline\0".getBytes(StandardCharsets.UTF_8)), SendFlag.SIGNALED);
                pair.client.awaitSendCompletion().requireSuccess("send");
                pair.server.awaitReceiveCompletion().requireSuccess("receive");
                pair.server.awaitReceiveCompletion().requireSuccess("receive");
                assertThat(received.segment().getString(0)).isEqualTo("by region");
                assertThat(received.segment().getString(32)).isEqualTo("inline");
            }
        });
    }

    @Test
    void clientOfAListenerThatTakesNoRequestWaits() throws Exception {
        try (CmEventChannel channel = CmEventChannel.create();
                CmId client = CmId.create(channel, PortSpace.TCP)) {
            try (CmId listener = CmId.create(PortSpace.TCP)) {
                client.resolveAddress(listen(listener), TIMEOUT);
                channel.awaitEvent().close();
                client.resolveRoute(TIMEOUT);
                channel.awaitEvent().close();
                client.createQueuePair();
                client.connect();
                assertThat(channel.pollEvent(SHORT)).isNull();
            }
            try (CmEvent event = channel.awaitEvent()) {
                assertThat(event.type()).isEqualTo(CmEventType.REJECTED);
            }
        }
    }

    @Test
    void requestsAreTakenFromIdsWithoutAChannel() throws Exception {
        try (CmEventChannel channel = CmEventChannel.create();
                CmId listener = CmId.create(channel, PortSpace.TCP)) {
            listen(listener);
            assertRefused(Errno.EINVAL, () -> listener.pollRequest(Duration.ZERO));
        }
    }

    @Test
    void receivesAreFlushedAtTheEndOfEveryConnection() throws Exception {
        connected((pair, arena) -> {
            try (MemoryRegion region = pair.server.registerMessages(arena.allocate(8))) {
                pair.server.postReceive(1, region, 0, 8);
                pair.client.disconnect();
                assertThat(pair.server.awaitReceiveCompletion().status())
                        .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            }
        });
    }

    @Test
    void failuresSayTheirErrno() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> RdmaDevices.find("no such device"))
                .satisfies(e -> assertThat(e.errno().number()).isEqualTo(19));
    }

    @Test
    void receiveMayBePostedAfterTheSend() throws Exception {
        connected((pair, arena) -> {
            try (MemoryRegion sent = pair.client.registerMessages(arena.allocate(8));
                    MemoryRegion received = pair.server.registerMessages(arena.allocate(8))) {
                pair.client.postSend(1, sent, 0, 8, SendFlag.SIGNALED);
                assertThat(pair.client.pollSendCompletion(SHORT)).isNull();
                pair.server.postReceive(1, received, 0, 8);
                pair.client.awaitSendCompletion().requireSuccess("send");
            }
        });
    }

    @Test
    void passiveSideMaySendFirstAndReadAndWrite() throws Exception {
        connected((pair, arena) -> {
            MemorySegment memory = arena.allocate(32);
            try (MemoryRegion ofClient = pair.client.protectionDomain().register(memory,
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
                    MemoryRegion ofServer = pair.server.registerMessages(arena.allocate(32))) {
                pair.client.postReceive(1, ofClient, 16, 16);
                ofServer.segment().setString(0, "first");
                // One buffer for SEND and for WRITE, and one for READ beside it.
                pair.server.postSend(1, ofServer, 0, 6, SendFlag.SIGNALED);
                pair.client.awaitReceiveCompletion().requireSuccess("receive");
                pair.server.postWrite(2, ofServer, 0, 6, ofClient.address(), ofClient.rkey(),
                        SendFlag.SIGNALED);
                pair.server.postRead(3, ofServer, 16, 6, ofClient.address() + 16,
                        ofClient.rkey(), SendFlag.SIGNALED);
                for (int i = 0; i < 3; i++) {
                    pair.server.awaitSendCompletion().requireSuccess("work");
                }
                assertThat(memory.getString(0)).isEqualTo("first");
                assertThat(ofServer.segment().getString(16)).isEqualTo("first");
            }
        });
    }

    @Test
    void sendsNeedMoreThanStateInit() throws Exception {
        byHand(hand -> {
            hand.left.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(Set.of()));
            assertRefused(Errno.EINVAL, () -> hand.left.postSend(
                    new SendWorkRequest().send().add(hand.region, 0, 8)), "INIT", "RTS");
        });
    }

    @Test
    void channelIsClosedAfterItsQueues() throws Exception {
        byHand(hand -> assertRefused(Errno.EBUSY, hand.channel::close));
    }

    @Test
    void keysAreNotMadeUpAndAddressesNotCut() throws Exception {
        for (boolean cut : List.of(true, false)) {
            connected((pair, arena) -> {
                try (MemoryRegion remote = pair.server.registerWrite(arena.allocate(8));
                        MemoryRegion local = pair.client.registerMessages(arena.allocate(8))) {
                    // (int) is what htonl leaves of an address.
                    long address = cut ? (int) remote.address() : remote.address();
                    int rkey = cut ? remote.rkey() : 0x1234;
                    assertThat(remote.address() >>> 32).isNotZero();
                    pair.client.postWrite(1, local, 0, 8, address, rkey, SendFlag.SIGNALED);
                    assertThat(pair.client.awaitSendCompletion().status())
                            .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
                }
            });
        }
    }

    @Test
    void idsNeedNoEventChannel() throws Exception {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(new InetSocketAddress(ADDRESS, 1), TIMEOUT);
            assertThat(id.context().device().name()).isEqualTo("roce_lo");
        }
    }

    @Test
    void oneChannelServesManyQueues() throws Exception {
        byHand(hand -> {
            try (CompletionQueue second = hand.context.createCompletionQueue(4, hand.channel);
                    QueuePair left = Lesson06.create(hand.domain, second);
                    QueuePair right = Lesson06.create(hand.domain, second)) {
                Lesson06.connect(left, right);
                second.requestNotification();
                right.postReceive(new ReceiveWorkRequest().add(hand.region, 32, 32));
                left.postSend(new SendWorkRequest().send().add(hand.region, 0, 8));
                assertThat(hand.channel.pollEvent(TIMEOUT)).isSameAs(second);
                second.acknowledgeEvents(1);
            }
        });
    }

    @Test
    void deviceIsOpenedAsOftenAsOneLikes() throws Exception {
        try (DeviceContext first = RdmaDevices.find("roce_lo").open();
                DeviceContext second = RdmaDevices.find("roce_lo").open()) {
            assertThat(second).isNotSameAs(first);
        }
    }

    @Test
    void sizeOfAQueueIsAMinimum() throws Exception {
        byHand(hand -> assertThat(hand.receives.capacity()).isGreaterThanOrEqualTo(16));
    }

    @Test
    void indexOfAGidFollowsFromTheAddresses() throws Exception {
        byHand(hand -> {
            List<GidEntry> table = hand.context.queryGidTable();
            for (GidEntry entry : table) {
                assertThat(hand.context.queryGid(1, entry.index())).isEqualTo(entry.gid());
                assertThat(entry.type()).isEqualTo(GidType.ROCE_V2);
            }
            assertThat(table).anyMatch(entry -> entry.gid().isIpv4());
            // Whoever takes an index from a tutorial may take one that is not there.
            assertThat(hand.context.queryGid(1, table.getLast().index() + 1).isZero()).isTrue();
        });
    }

    @Test
    void queuePairWithoutAccessFlagsRefusesWrites() throws Exception {
        connected((pair, arena) -> {
            try (MemoryRegion remote = pair.server.registerWrite(arena.allocate(8));
                    MemoryRegion local = pair.client.registerMessages(arena.allocate(8))) {
                pair.server.queuePair().modify(new QueuePairAttributes().accessFlags(Set.of()));
                pair.client.postWrite(1, local, 0, 8, remote.address(), remote.rkey(),
                        SendFlag.SIGNALED);
                assertThat(pair.client.awaitSendCompletion().isSuccess()).isFalse();
            }
        });
    }

    @Test
    void pathsOfRoceAreGlobalAndCrossRouters() throws Exception {
        byHand(hand -> {
            AddressHandleAttributes path = AddressHandleAttributes
                    .to(hand.context.queryGid(1, 0), 0);
            assertThat(path.isGlobal()).isTrue();
            assertThat(path.hopLimit()).isEqualTo(64);
            assertRefused(Errno.EINVAL,
                    () -> hand.domain.createAddressHandle(path.withGlobal(false)));
        });
    }

    @Test
    void queuePairHasItsNumberBeforeItConnects() throws Exception {
        byHand(hand -> {
            assertThat(hand.left.state()).isEqualTo(QueuePairState.RESET);
            assertThat(hand.left.number()).isNotEqualTo(hand.right.number());
        });
    }

    @Test
    void queueWithUnacknowledgedEventsCannotBeClosed() throws Exception {
        byHand(hand -> {
            CompletionQueue queue = hand.context.createCompletionQueue(4, hand.channel);
            try (QueuePair left = Lesson06.create(hand.domain, queue);
                    QueuePair right = Lesson06.create(hand.domain, queue)) {
                Lesson06.connect(left, right);
                queue.requestNotification();
                right.postReceive(new ReceiveWorkRequest().add(hand.region, 32, 32));
                left.postSend(new SendWorkRequest().send().add(hand.region, 0, 8));
                assertThat(hand.channel.pollEvent(TIMEOUT)).isSameAs(queue);
            }
            assertRefused(Errno.EBUSY, queue::close, "event");
            queue.acknowledgeEvents(1);
            queue.close();
        });
    }
}
