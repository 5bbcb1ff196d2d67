// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.RejectedException;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The connection manager over real sockets on loopback, as applications use it. */
class ConnectionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final CmEventChannel events = CmEventChannel.create();
    private final CmId listener = CmId.create(events, PortSpace.TCP);
    private final CmId client = CmId.create(events, PortSpace.TCP);

    ConnectionTest() throws RdmaException {}

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        client.close();
        listener.close();
        events.close();
    }

    private static void assertRefused(ThrowingCallable call, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"))
                .withMessageContainingAll(words);
    }

    private InetSocketAddress listen(String address) throws Exception {
        listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
        listener.listen(2);
        return listener.localAddress();
    }

    /** {@return the next event, which must be of a type} */
    private CmEvent expect(CmEventType type) throws RdmaException {
        CmEvent event = events.pollEvent(LONG);
        assertThat(event).isNotNull();
        assertThat(event.type()).as(event.toString()).isEqualTo(type);
        return event;
    }

    private void resolve(CmId id, InetSocketAddress address) throws RdmaException {
        id.resolveAddress(address, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED).close();
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED).close();
        id.createQueuePair();
    }

    /** {@return the server's id of an established connection} */
    private CmId connectAndAccept(InetSocketAddress address, String clientData, String serverData)
            throws RdmaException {
        resolve(client, address);
        client.connect(new ConnectionParameters().privateData(bytes(clientData)));
        CmId server;
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            assertThat(request.listenId()).isSameAs(listener);
            assertThat(request.privateData()).isEqualTo(Arrays.copyOf(bytes(clientData), 56));
            server = request.id();
        }
        server.createQueuePair();
        server.accept(new ConnectionParameters().privateData(bytes(serverData)));
        for (int i = 0; i < 2; i++) {
            try (CmEvent established = expect(CmEventType.ESTABLISHED)) {
                if (established.id() == client) {
                    assertThat(established.privateData())
                            .isEqualTo(Arrays.copyOf(bytes(serverData), 196));
                }
            }
        }
        return server;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    // ---------------------------------------------------------------- the good course

    @ParameterizedTest
    @MethodSource("io.rdma4j.softnic.CmStage#ownAddresses")
    void connectionCarriesMessagesAndEndsOnBothSides(String address) throws Exception {
        CmStage.requirePresent(address);
        CmId server = connectAndAccept(listen(address), "from client", "from server");
        assertThat(client.peerPort()).isEqualTo(listener.localPort());
        assertThat(server.peerPort()).isEqualTo(client.localPort());
        assertThat(server.localPort()).isEqualTo(listener.localPort());
        assertThat(server.peerAddress()).isEqualTo(client.localAddress());
        assertThat(client.queuePair().state()).isEqualTo(QueuePairState.RTS);

        MemorySegment memory = Arena.ofAuto().allocate(64);
        try (MemoryRegion region = client.registerMessages(memory)) {
            memory.setString(0, "hello");
            server.postReceive(1, region, 32, 32);
            client.postSend(2, region, 0, 6, SendFlag.SIGNALED);
            assertThat(server.awaitReceiveCompletion().byteLength()).isEqualTo(6);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
            assertThat(memory.getString(32)).isEqualTo("hello");
        }

        server.disconnect();
        for (int i = 0; i < 2; i++) {
            expect(CmEventType.DISCONNECTED).close();
        }
        client.disconnect();
        assertThat(client.queuePair().state()).isEqualTo(QueuePairState.ERR);
        server.close();
    }

    @Test
    void wildcardListenerIsReachedByTheLoopbackDevice() throws Exception {
        listener.bindAddress(new InetSocketAddress(0));
        listener.listen(1);
        assertThat(listener.listenAddresses())
                .anyMatch(address -> address.getAddress().isLoopbackAddress());
        assertThatIllegalStateException().isThrownBy(listener::context)
                .withMessageContaining("device");
        // RoCE and iWARP share addresses; as texts, because equals does not look at the interface.
        assertThat(listener.listenAddresses()).extracting(InetSocketAddress::toString)
                .doesNotHaveDuplicates();
        InetAddress held = listener.listenAddresses().stream().map(InetSocketAddress::getAddress)
                .filter(InetAddress::isLoopbackAddress).findFirst().orElseThrow();
        connectAndAccept(new InetSocketAddress(held, listener.localPort()), "", "").close();
    }

    @Test
    void synchronousIdsTakeEachStepInOneCall() throws Exception {
        try (CmId passive = CmId.create(PortSpace.TCP); CmId active = CmId.create(PortSpace.TCP)) {
            passive.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(CmStage.OWN), 0));
            passive.listen(1);
            assertThat(passive.pollRequest(Duration.ofMillis(10))).isNull();
            CompletableFuture<WorkCompletion> served = CompletableFuture.supplyAsync(() -> {
                try (CmId id = passive.awaitRequest()) {
                    id.createQueuePair();
                    id.queuePair().postReceive(new ReceiveWorkRequest());
                    id.accept(new ConnectionParameters());
                    // The peer's end wakes the one who waits.
                    return id.awaitReceiveCompletion();
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            });
            active.resolveAddress(passive.localAddress(), TIMEOUT);
            active.resolveRoute(TIMEOUT);
            active.createQueuePair();
            active.connect(new ConnectionParameters());
            assertThat(active.event()).isNotNull();
            active.disconnect();
            assertThat(served.get(20, TimeUnit.SECONDS).status())
                    .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        }
    }

    @Test
    void closingAnIdEndsItsConnection() throws Exception {
        CmId server = connectAndAccept(listen(CmStage.OWN), "", "");
        client.close();
        try (CmEvent event = expect(CmEventType.DISCONNECTED)) {
            assertThat(event.id()).isSameAs(server);
        }
        server.close();
    }

    @Test
    void timewaitEndIsReported() throws Exception {
        CmId server = connectAndAccept(listen(CmStage.OWN), "", "");
        client.disconnect();
        expect(CmEventType.DISCONNECTED).close();
        expect(CmEventType.DISCONNECTED).close();
        expect(CmEventType.TIMEWAIT_EXIT).close();
        expect(CmEventType.TIMEWAIT_EXIT).close();
        server.close();
    }

    // ---------------------------------------------------------------- refusals

    @Test
    void nobodyListeningIsRejectedAtOnceWithItsReason() throws Exception {
        // The loopback device is open through the listener, which listens at another port.
        InetSocketAddress address = listen(CmStage.OWN);
        resolve(client, new InetSocketAddress(address.getAddress(), 1));
        client.connect(new ConnectionParameters());
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.status()).isEqualTo(8);
            assertThat(event.description()).isEqualTo("rejected (8: invalid service ID:"
                    + " no process listens at that port of that address)");
        }
        assertThat(client.queuePair().state()).isEqualTo(QueuePairState.ERR);
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.EINVAL, "ended");
    }

    @Test
    void synchronousConnectThrowsWhatTheEventWouldSay() throws Exception {
        InetSocketAddress address = listen(CmStage.OWN);
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(new InetSocketAddress(address.getAddress(), 1), TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair();
            assertRefused(() -> id.connect(new ConnectionParameters()), Errno.ECONNREFUSED,
                    CmStage.OWN + " port 1", "invalid service ID", "no process listens");
        }
    }

    @Test
    void rejectionCarriesBytes() throws Exception {
        resolve(client, listen(CmStage.OWN));
        client.connect(new ConnectionParameters());
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            request.id().reject(bytes("not today"));
            request.acknowledge();
            request.id().close();
        }
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.status()).isEqualTo(28);
            assertThat(event.privateData()).hasSize(148).startsWith(bytes("not today"));
            assertThat(event.failure("connect")).isInstanceOfSatisfying(RejectedException.class,
                    refused -> {
                        assertThat(refused.errno()).isEqualTo(Errno.ECONNREFUSED);
                        assertThat(refused.status()).isEqualTo(28);
                        assertThat(refused.privateData()).startsWith(bytes("not today"));
                    });
        }
    }

    @Test
    void whoChangesTheParametersOfAnEventChangesACopy() throws Exception {
        resolve(client, listen(CmStage.OWN));
        client.connect(new ConnectionParameters().privateData(bytes("hello")));
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            Objects.requireNonNull(request.parameters()).privateData(bytes("other"));
            assertThat(request.privateData()).startsWith(bytes("hello"));
            request.acknowledge();
            request.id().close();
        }
        expect(CmEventType.REJECTED).close();
    }

    @Test
    void whatIsPostedAfterTheQueuePairOfAnIdWasClosedFindsItClosed() throws Exception {
        resolve(client, listen(CmStage.OWN));
        MemorySegment data = MemorySegment.ofArray(new byte[8]);
        client.closeQueuePair();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> client.postSend(1, data));
        client.createQueuePair();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> client.postSend(1, data))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    }

    @Test
    void requestThatIsClosedUnansweredIsRejected() throws Exception {
        resolve(client, listen(CmStage.OWN));
        client.connect(new ConnectionParameters());
        CmEvent request = expect(CmEventType.CONNECT_REQUEST);
        request.acknowledge();
        request.id().close();
        expect(CmEventType.REJECTED).close();
    }

    @Test
    void requestThatIsWithdrawnIsRejectedForTheListenerAsWell() throws Exception {
        resolve(client, listen(CmStage.OWN));
        client.connect(new ConnectionParameters());
        CmId server;
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            server = request.id();
        }
        server.createQueuePair();
        client.close();
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.id()).isSameAs(server);
            assertThat(event.status()).isEqualTo(4);
        }
        assertRefused(server::accept, Errno.EINVAL, "ended");
        assertRefused(() -> server.reject(new byte[0]), Errno.EINVAL, "ended");
        server.close();
    }

    @Test
    void closingAListenerRejectsRequestsNobodyTook() throws Exception {
        listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(CmStage.OWN), 0));
        listener.listen(1);
        CmEventChannel others = CmEventChannel.create();
        CmId first = connect(others);
        // The backlog is full when the second request is rejected, so the first has arrived.
        CmId second = connect(others);
        try (CmEvent event = others.awaitEvent()) {
            assertThat(event.id()).isSameAs(second);
            assertThat(event.status()).isEqualTo(3);
        }
        listener.close();
        try (CmEvent event = others.awaitEvent()) {
            assertThat(event.id()).isSameAs(first);
            assertThat(event.type()).isEqualTo(CmEventType.REJECTED);
        }
        first.close();
        second.close();
        others.close();
    }

    private CmId connect(CmEventChannel channel) throws RdmaException {
        CmId id = CmId.create(channel, PortSpace.TCP);
        id.resolveAddress(listener.localAddress(), TIMEOUT);
        channel.awaitEvent().close();
        id.resolveRoute(TIMEOUT);
        channel.awaitEvent().close();
        id.createQueuePair();
        id.connect(new ConnectionParameters());
        return id;
    }

    @Test
    void queuePairThatDoesNotGoAlongIsAConnectErrorAndThePeerHears() throws Exception {
        resolve(client, listen(CmStage.OWN));
        client.connect(new ConnectionParameters());
        CmId server;
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            server = request.id();
        }
        server.createQueuePair();
        client.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
        server.accept(new ConnectionParameters());
        try (CmEvent event = expect(CmEventType.CONNECT_ERROR)) {
            assertThat(event.id()).isSameAs(client);
            assertThat(event.status()).isEqualTo(-Errno.EINVAL.number());
        }
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.id()).isSameAs(server);
        }
        server.close();
    }

    @Test
    void silentAddressIsUnreachableWithinItsTimeout() throws Exception {
        System.setProperty("rdma4j.cm.responseTimeout", "13");
        System.setProperty("rdma4j.cm.maxRetries", "2");
        try {
            // No machine has this address, so there is no answer.
            resolve(client, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.222"), 1));
            long startNs = System.nanoTime();
            client.connect(new ConnectionParameters());
            expect(CmEventType.UNREACHABLE).close();
            assertThat(System.nanoTime() - startNs).isGreaterThan(2 * (4096L << 13));
        } finally {
            System.clearProperty("rdma4j.cm.responseTimeout");
            System.clearProperty("rdma4j.cm.maxRetries");
        }
    }

    // ---------------------------------------------------------------- bad input

    @Test
    void unknownHostIsSaidSo() {
        assertRefused(
                () -> client.resolveAddress(
                        InetSocketAddress.createUnresolved("no.such.host.invalid", 1), TIMEOUT),
                Errno.EHOSTUNREACH, "unknown host 'no.such.host.invalid'");
    }

    @Test
    void addressOfNoDeviceCannotBeBound() throws Exception {
        InetSocketAddress foreign = new InetSocketAddress(InetAddress.ofLiteral("198.51.100.7"), 0);
        assertRefused(() -> listener.bindAddress(foreign), Errno.EADDRNOTAVAIL, "198.51.100.7",
                "no RDMA device", "roce_lo");
        // The id is as it was.
        listen(CmStage.OWN);
    }

    @Test
    void portInUseCannotBeBoundAgain() throws Exception {
        InetSocketAddress address = listen(CmStage.OWN);
        assertRefused(() -> client.bindAddress(address), Errno.EADDRINUSE,
                String.valueOf(address.getPort()));
        assertRefused(() -> client.bindAddress(new InetSocketAddress(address.getPort())),
                Errno.EADDRINUSE, "port");
    }

    @Test
    void addressWhoseUdpPortIsTakenByAnotherProgramCannotBeBound() throws Exception {
        InetAddress address = InetAddress.ofLiteral(CmStage.OTHER);
        try (DatagramSocket other = new DatagramSocket(new InetSocketAddress(address, 4791))) {
            assertThat(other.isBound()).isTrue();
            listener.device("roce");
            assertRefused(() -> listener.bindAddress(new InetSocketAddress(address, 0)),
                    Errno.EADDRINUSE,
                    "UDP port 4791 of " + CmStage.OTHER + " is taken by ", "another address");
        }
        listener.bindAddress(new InetSocketAddress(address, 0));
    }

    @Test
    void receiveOfARejectedConnectionIsFlushedAndSaysThatThisMayBeWhy() throws Exception {
        resolve(client, listen(CmStage.OWN));
        try (MemoryRegion region = client.registerMessages(Arena.ofAuto().allocate(16))) {
            client.postReceive(1, region, 0, 16);
            client.connect(new ConnectionParameters());
            try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
                request.id().reject(new byte[0]);
                request.acknowledge();
                request.id().close();
            }
            expect(CmEventType.REJECTED).close();
            WorkCompletion flushed = client.pollReceiveCompletion(LONG);
            assertThat(flushed).isNotNull();
            assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(flushed.toString()).contains("rejected", "REJECTED", "disconnected");
        }
    }

    @Test
    void stepsOutOfOrderAreRefusedWithWhatComesNext() throws Exception {
        assertRefused(() -> client.resolveRoute(TIMEOUT), Errno.EINVAL, "no address yet");
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.EINVAL,
                "no address yet");
        assertRefused(() -> client.accept(new ConnectionParameters()), Errno.EINVAL,
                "stands for no request", "CONNECT_REQUEST", "awaitRequest");
        assertRefused(() -> client.reject(new byte[0]), Errno.EINVAL, "stands for no request");
        assertRefused(client::establish, Errno.EINVAL, "no CONNECT_RESPONSE");
        assertRefused(client::disconnect, Errno.EINVAL, "not connected", "closing");
        assertThatIllegalStateException().isThrownBy(client::queuePair)
                .withMessageContaining("no queue pair");
        assertThatIllegalStateException().isThrownBy(client::localAddress);
        client.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1),
                TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED).close();
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.EINVAL,
                "route comes next");
        assertRefused(() -> client.listen(1), Errno.EINVAL, "route comes next");
    }

    @Test
    void privateDataThatDoesNotFitIsRefused() throws Exception {
        resolve(client, listen(CmStage.OWN));
        assertRefused(
                () -> client.connect(new ConnectionParameters().privateData(new byte[57])),
                Errno.EINVAL, "57", "56");
        client.connect(new ConnectionParameters().privateData(new byte[56]));
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            CmId server = request.id();
            assertRefused(
                    () -> server.accept(new ConnectionParameters().privateData(new byte[197])),
                    Errno.EINVAL, "197", "196");
            assertRefused(() -> server.reject(new byte[149]), Errno.EINVAL, "149", "148");
            request.acknowledge();
            server.close();
        }
        expect(CmEventType.REJECTED).close();
    }

    @Test
    void idWithAnUnacknowledgedEventCannotBeClosed() throws Exception {
        client.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1),
                TIMEOUT);
        CmEvent event = expect(CmEventType.ADDR_RESOLVED);
        assertRefused(client::close, Errno.EBUSY, "1 event");
        event.acknowledge();
        event.acknowledge();
        client.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> client.resolveRoute(TIMEOUT))
                .withMessageContaining("closed");
    }

    @Test
    void channelCannotBeClosedBeforeItsIds() {
        assertRefused(events::close, Errno.EBUSY, "2 id");
    }

    // ---------------------------------------------------------------- threads

    @Test
    void interruptionEndsAWaitAndHarmsNobodyElse() throws Exception {
        CmId server = connectAndAccept(listen(CmStage.OWN), "", "");
        MemorySegment memory = Arena.ofAuto().allocate(64);
        try (MemoryRegion region = client.registerMessages(memory)) {
            server.postReceive(1, region, 0, 64);
            CompletableFuture<Void> waiting = new CompletableFuture<>();
            Thread thread = Thread.ofVirtual().start(() -> {
                try {
                    server.awaitReceiveCompletion();
                    waiting.complete(null);
                } catch (RdmaException e) {
                    waiting.completeExceptionally(e);
                }
            });
            thread.interrupt();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .withMessageContaining("EINTR");
            // A thread whose interruption is pending drives the device like any other.
            Thread.currentThread().interrupt();
            client.postSend(2, region, 0, 10, SendFlag.SIGNALED);
            WorkCompletion completion = new WorkCompletion();
            Wait.until("the SEND completes",
                    () -> client.queuePair().sendCompletionQueue().poll(completion));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(completion.isSuccess()).isTrue();
            assertThat(server.awaitReceiveCompletion().isSuccess()).isTrue();
        }
        server.close();
    }
}
