// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Where zero means "default", "none" or "without limit" in C. {@code docs/reference/from-c.md} lists these places, with what the man
 * pages and Linux have.
 */
public abstract class ZeroConformance extends Conformance {
    private static final int SMALL = 64;

    /** Called by subclasses. */
    protected ZeroConformance() {}

    private CompletionQueue queue(DeviceContext context) throws RdmaException {
        return keep(context.createCompletionQueue(16));
    }

    private ProtectionDomain domain(DeviceContext context) throws RdmaException {
        return keep(context.allocateProtectionDomain());
    }

    // ---------------------------------------------------------------- completion queues

    @ConformanceCase
    void completionQueueNeedsAPlace() throws RdmaException {
        DeviceContext context = open();
        queue(context);
        assertRefused(() -> context.createCompletionQueue(0), Errno.EINVAL);
    }

    @ConformanceCase
    void pollingForNoCompletionsGetsNone() throws RdmaException {
        CompletionQueue queue = queue(open());
        assertThat(queue.poll(new WorkCompletion[0])).isZero();
        assertThat(queue.poll(0, _ -> {
            throw new AssertionError("no completion was asked for");
        })).isZero();
    }

    @ConformanceCase
    void acknowledgingNoEventsDoesNothing() throws RdmaException {
        CompletionChannel channel = keep(CompletionChannel.create());
        CompletionQueue queue = keep(open().createCompletionQueue(16, channel));
        queue.acknowledgeEvents(0);
    }

    @ConformanceCase
    void moderationOfNothingEndsIt() throws RdmaException {
        queue(open()).moderate(0, Duration.ZERO);
    }

    // ---------------------------------------------------------------- queue pairs and shared receive queues

    @ConformanceCase
    void queuePairMayBeOfNoSize() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP,
                "a driver may want requests, as siw does");
        DeviceContext context = open();
        QueuePair queuePair = keep(domain(context).createQueuePair(new QueuePairInitAttributes()
                .completionQueue(queue(context))
                .capabilities(new QueuePairCapabilities(0, 0, 0, 0, 0))));
        QueuePairCapabilities given = queuePair.capabilities();
        assertThat(given.maxSendRequests()).isNotNegative();
        assertThat(given.maxInlineData()).isNotNegative();
    }

    @ConformanceCase
    void sharedReceiveQueueNeedsARequest() throws RdmaException {
        ProtectionDomain domain = domain(open());
        assertRefused(() -> domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(0)), Errno.EINVAL);
    }

    @ConformanceCase
    void sharedReceiveQueueTakesRequestsWithoutMemory() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP,
                "a driver may want memory, as siw does");
        ProtectionDomain domain = domain(open());
        SharedReceiveQueue queue = keep(domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(4).maxElements(0)));
        queue.post(new ReceiveWorkRequest().id(1));
    }

    @ConformanceCase
    void limitOfZeroWarnsOfNothing() throws RdmaException {
        ProtectionDomain domain = domain(open());
        SharedReceiveQueue queue = keep(domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(4)));
        queue.arm(0);
        assertThat(queue.query().limit()).isZero();
    }

    @ConformanceCase
    void portZeroIsNone() throws RdmaException {
        DeviceContext context = open();
        assertThat(context.queryPort(Player.PORT).gidTableLength()).isPositive();
        assertRefused(() -> context.queryPort(0), Errno.EINVAL);
        assertRefused(() -> context.queryGid(0, 0), Errno.EINVAL);
        if (!isIwarp()) {
            QueuePair queuePair = keep(domain(context).createQueuePair(
                    new QueuePairInitAttributes().completionQueue(queue(context))));
            assertThatIllegalArgumentException().isThrownBy(() -> queuePair
                    .modify(new QueuePairAttributes().state(QueuePairState.INIT).port(0)));
        }
    }

    @ConformanceCase
    void modifyingNothingChangesNothing() throws RdmaException {
        DeviceContext context = open();
        QueuePair queuePair = keep(domain(context).createQueuePair(
                new QueuePairInitAttributes().completionQueue(queue(context))));
        QueuePairState before = queuePair.state();
        queuePair.modify(new QueuePairAttributes());
        assertThat(queuePair.state()).isEqualTo(before);
    }

    // ---------------------------------------------------------------- memory

    /** In C the driver decides; rdma4j asks none. */
    @ConformanceCase
    void regionOfNoBytesIsRefused() throws RdmaException {
        ProtectionDomain domain = domain(open());
        MemorySegment memory = Arena.ofAuto().allocate(8);
        assertRefused(() -> domain.register(memory.asSlice(0, 0)), Errno.EINVAL, "no bytes");
    }

    @ConformanceCase
    void withoutRightsARegionCanBeReadLocally() throws RdmaException {
        Players players = players(new PlayerSettings().with(own -> own.messageLength = SMALL));
        Player client = players.client;
        MemoryRegion region = keep(client.domain.register(client.memory));
        players.server.receive(SMALL);
        long id = client.newId();
        client.queuePair.postSend(new SendWorkRequest().id(id).send().add(region, 0, SMALL)
                .set(SendFlag.SIGNALED));
        client.awaitSuccess(id);
    }

    @ConformanceCase
    void adviceOnNoMemoryDoesNothing() throws RdmaException {
        DeviceContext context = open();
        assumeOffered(!context.queryDevice().onDemandPaging().isEmpty(),
                "onDemandPaging offers nothing");
        domain(context).advise(MemoryAdvice.PREFETCH, List.of(), AdviceFlag.FLUSH);
    }

    @ConformanceCase
    void deviceMemoryHasBytes() throws RdmaException {
        DeviceContext context = open();
        assumeOffered(context.queryDevice().maxDeviceMemory() > 0, "maxDeviceMemory is 0");
        assertRefused(() -> context.allocateDeviceMemory(0, 0), Errno.EINVAL);
    }

    // ---------------------------------------------------------------- requests

    @ConformanceCase
    void messageWithoutMemoryHasNoBytes() throws RdmaException {
        Players players = players();
        long receive = players.server.receive(SMALL);
        long id = players.client.newId();
        players.client.queuePair.postSend(
                new SendWorkRequest().id(id).send().set(SendFlag.SIGNALED));
        players.client.awaitSuccess(id);
        assertThat(players.server.awaitSuccess(receive).byteLength()).isZero();
    }

    /** On Linux's siw the system call that posts it never returns. */
    @ConformanceCase
    void elementOfNoBytesAddsNone() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP,
                "a driver may not return from posting it");
        Players players = players();
        Player client = players.client;
        long receive = players.server.receive(SMALL);
        long id = client.newId();
        client.queuePair.postSend(new SendWorkRequest().id(id).send().add(client.region, 0, 0)
                .add(client.region, 0, 8).set(SendFlag.SIGNALED));
        client.awaitSuccess(id);
        assertThat(players.server.awaitSuccess(receive).byteLength()).isEqualTo(8);
    }

    @ConformanceCase
    void receiveWithoutMemoryTakesAMessageWithoutBytes() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP,
                "a driver may want memory, as siw does");
        Players players = players();
        long receive = players.server.receive(0);
        long id = players.client.newId();
        players.client.queuePair.postSend(
                new SendWorkRequest().id(id).send().set(SendFlag.SIGNALED));
        players.client.awaitSuccess(id);
        assertThat(players.server.awaitSuccess(receive).byteLength()).isZero();
    }

    @ConformanceCase
    void writeOfNoBytesNeedsNoKey() throws RdmaException {
        Players players = players();
        players.access(players.client,
                players.client.work(SendOpcode.RDMA_WRITE, 0).rkey(0).remoteAddress(0), 0);
    }

    @ConformanceCase
    void numberZeroIsAsGoodAsAnyOther() throws RdmaException {
        Players players = players();
        players.server.queuePair.postReceive(
                new ReceiveWorkRequest().id(0).add(players.server.region, 0, SMALL));
        players.client.queuePair.postSend(new SendWorkRequest().id(0).send()
                .add(players.client.region, 0, SMALL).set(SendFlag.SIGNALED));
        players.client.awaitSuccess(0);
        players.server.awaitSuccess(0);
    }

    @ConformanceCase
    void noRequestsAreAList() throws RdmaException {
        Players players = players();
        players.client.queuePair.postSend(List.of());
        players.client.queuePair.postReceive(List.of());
    }

    // ---------------------------------------------------------------- attributes of a connection

    private Players patient(int timeout, int retries, int rnrRetry, int rnrTimer)
            throws RdmaException {
        assumeOffered(!isIwarp(), "iWARP has none of these attributes");
        return players(new PlayerSettings().with(own -> {
            own.timeout = timeout;
            own.retryCount = retries;
            own.rnrRetry = rnrRetry;
            own.minRnrTimer = rnrTimer;
        }));
    }

    @ConformanceCase
    void acknowledgeTimeoutOfZeroIsNoTimeout() throws RdmaException {
        Players players = patient(0, 7, 7, 12);
        players.exchange(SendOpcode.SEND);
        assertThat(players.client.queuePair.query().ackTimeoutExponent()).isZero();
    }

    @ConformanceCase
    void connectionMayDoWithoutRetries() throws RdmaException {
        Players players = patient(PlayerSettings.TIMEOUT, 0, 0, 12);
        players.exchange(SendOpcode.SEND);
        assertThat(players.client.queuePair.query().retryCount()).isZero();
    }

    @ConformanceCase
    void withoutRnrRetriesTheFirstRefusalIsTheLast() throws RdmaException {
        Players players = patient(PlayerSettings.TIMEOUT, 7, 0, 1);
        players.assertEnds(players.client.work(SendOpcode.SEND, SMALL),
                WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
    }

    /** The code 0 is the longest wait, 655.36 ms, and not the shortest. */
    @ConformanceCase
    void rnrTimerOfZeroIsTheLongest() throws RdmaException {
        Players players = patient(PlayerSettings.TIMEOUT, 7, 1, 0);
        long startNs = System.nanoTime();
        players.assertEnds(players.client.work(SendOpcode.SEND, SMALL),
                WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(600_000_000L);
    }

    @ConformanceCase
    void connectionMayHaveNoResources() throws RdmaException {
        assumeOffered(!isIwarp(), "iWARP has none of these attributes");
        Players players = players(new PlayerSettings().with(own -> own.readAtomic = 0));
        players.exchange(SendOpcode.SEND);
        QueuePairAttributes known = players.client.queuePair.query();
        assertThat(known.maxReadAtomic()).isZero();
        assertThat(known.maxDestinationReadAtomic()).isZero();
    }

    @ConformanceCase
    void hopLimitOfZeroIsLeftToTheDevice() throws RdmaException {
        assumeOffered(!isIwarp(), "iWARP has no paths");
        Players players = players(new PlayerSettings().type(QueuePairType.UD));
        Player client = players.client;
        AddressHandleAttributes path = client.pathTo(players.server);
        AddressHandle handle = keep(client.domain.createAddressHandle(new AddressHandleAttributes(
                path.destination(), path.sourceGidIndex(), 0, 0, 0, 0, 0, 0, 0, true,
                Player.PORT)));
        send(players, handle, Player.QKEY);
    }

    private static void send(Players players, AddressHandle handle, int qkey)
            throws RdmaException {
        Player client = players.client;
        long receive = players.server.receive(SMALL);
        long id = client.newId();
        client.queuePair.postSend(new SendWorkRequest().id(id).send()
                .add(client.region, 0, SMALL)
                .to(handle, players.server.queuePair.number(), qkey).set(SendFlag.SIGNALED));
        client.awaitSuccess(id);
        players.server.awaitSuccess(receive);
    }

    @ConformanceCase
    void qkeyOfZeroIsAsGoodAsAnyOther() throws RdmaException {
        assumeOffered(!isIwarp(), "iWARP has no datagrams");
        Players players = players(new PlayerSettings().type(QueuePairType.UD));
        players.server.queuePair.modify(new QueuePairAttributes().qkey(0));
        send(players, players.client.handle(), 0);
    }

    // ---------------------------------------------------------------- the connection manager

    @ConformanceCase
    void portZeroIsAnyFreePort() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId id = players.active.newId(PortSpace.TCP);
        id.bindAddress(players.anyPort());
        assertThat(id.localPort()).isPositive();
    }

    @ConformanceCase
    void timeoutOfZeroResolvesWhatIsKnown() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId listener = players.listen(PortSpace.TCP);
        CmId id = players.active.newId(PortSpace.TCP);
        id.resolveAddress(listener.localAddress(), Duration.ZERO);
        players.active.expect(CmEventType.ADDR_RESOLVED).close();
        id.resolveRoute(Duration.ZERO);
        players.active.expect(CmEventType.ROUTE_RESOLVED).close();
    }

    @ConformanceCase
    void nobodyListensAtPortZero() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId id = players.active.newId(PortSpace.TCP);
        players.resolve(id, new InetSocketAddress(connectionAddress(), 0));
        id.createQueuePair();
        id.connect();
        players.active.expect(CmEventType.REJECTED).close();
    }

    @ConformanceCase
    void backlogOfZeroTakesManyRequests() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId listener = players.passive.newId(PortSpace.TCP);
        listener.bindAddress(players.anyPort());
        listener.listen(0);
        for (int i = 0; i < 5; i++) {
            CmId id = players.resolved(PortSpace.TCP, listener.localAddress());
            id.createQueuePair();
            id.connect();
        }
        for (int i = 0; i < 5; i++) {
            players.requested(listener);
        }
    }

    /** C: {@code rdma_connect} and {@code rdma_accept} with NULL, {@code rdma_create_qp} without domain and queues. */
    @ConformanceCase
    void connectionWithoutParametersHasTheMost() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair();
        client.connect();
        CmId server;
        try (CmEvent request = players.passive.expect(CmEventType.CONNECT_REQUEST)) {
            server = keep(request.id());
            ConnectionParameters asked = Objects.requireNonNull(request.parameters());
            assertThat(asked.responderResources()).isPositive();
            assertThat(asked.initiatorDepth()).isPositive();
        }
        server.createQueuePair();
        server.accept();
        players.established();
        players.exchange(client, server);
        players.disconnect(client);
    }

    @ConformanceCase
    void connectionMayHaveNoReads() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        ConnectionParameters zeros = new ConnectionParameters().responderResources(0)
                .initiatorDepth(0).retryCount(0).rnrRetryCount(0).flowControl(false)
                .privateData(new byte[0]);
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair();
        client.connect(zeros);
        CmId server;
        try (CmEvent request = players.passive.expect(CmEventType.CONNECT_REQUEST)) {
            server = keep(request.id());
            ConnectionParameters asked = Objects.requireNonNull(request.parameters());
            // A peer of iWARP says by a READ that it is there.
            assertThat(asked.responderResources()).isBetween(0, isIwarp() ? 1 : 0);
            assertThat(asked.initiatorDepth()).isZero();
            if (!isIwarp()) {
                assertThat(asked.retryCount()).isZero();
                assertThat(asked.rnrRetryCount()).isZero();
            }
        }
        server.createQueuePair();
        server.accept(zeros);
        players.established();
        players.exchange(client, server);
        players.disconnect(client);
    }

    /** Linux sends the number 0, which no peer can use. */
    @ConformanceCase
    void queuePairNumberOfZeroIsNone() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.EINVAL,
                "queue pair");
    }

    @ConformanceCase
    void datagramServiceHasTheUsualQkeyForZero() throws RdmaException {
        assumeOffered(!isIwarp(), "iWARP has no datagrams");
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId listener = players.listen(PortSpace.UDP);
        CmId client = players.resolved(PortSpace.UDP, listener.localAddress());
        client.createQueuePair();
        client.connect(new ConnectionParameters().qkey(0));
        CmId server = players.requested(listener);
        server.createQueuePair();
        server.accept(new ConnectionParameters().qkey(0));
        try (CmEvent established = players.active.expect(CmEventType.ESTABLISHED)) {
            assertThat(established.datagram()).extracting(DatagramParameters::qkey)
                    .isEqualTo(DatagramParameters.UDP_QKEY);
        }
    }

    @ConformanceCase
    void withoutHintsANodeIsOfConnections() throws RdmaException {
        List<AddressInfo> found = AddressInfo.resolve(connectionAddress().getHostAddress(), null,
                new AddressInfo.Hints());
        assertThat(found).isNotEmpty().allMatch(each -> each.portSpace() == PortSpace.TCP);
    }

    @ConformanceCase
    void typeOfServiceAndTimeoutMayBeZero() throws RdmaException {
        CmPlayers players = new CmPlayers(this::keep, this);
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        client.typeOfService(0);
        client.ackTimeoutExponent(0);
        CmPlayers.Connection connection = players.connected(client, listener);
        if (!isIwarp()) {
            assertThat(client.queuePair().query().ackTimeoutExponent()).isZero();
        }
        players.exchange(connection.client(), connection.server());
        players.disconnect(client);
    }
}
