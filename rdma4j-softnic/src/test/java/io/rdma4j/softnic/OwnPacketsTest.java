// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
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
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/** Two queue pairs of one device that need no network: it sees no packet of theirs. */
class OwnPacketsTest {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final int MTU = 1024;
    private static final int ROOM = 700 * MTU;
    private static final int FIRST_PSN = 0xffff00;
    private static final int QKEY = 0x0333_3333;

    private final SimulatedNetwork network = new SimulatedNetwork(4);
    private final MemorySegment memory = Arena.ofAuto().allocate(2 * ROOM, 8);
    private final MemorySegment source = memory.asSlice(0, ROOM);
    private final MemorySegment target = memory.asSlice(ROOM, ROOM);
    private final AddressHandleAttributes there;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private QueuePair a;
    private QueuePair b;

    OwnPacketsTest() throws Exception {
        SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(ADDRESS));
        SoftNic nic = new SoftNic(device,
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        ((RoceTransport) nic.transport()).skipNetwork(true);
        nic.start(ADDRESS);
        there = AddressHandleAttributes.to(Gid.of(ADDRESS), nic.gids().indexOf(Gid.of(ADDRESS)));
        SoftDeviceContext context = new SoftDeviceContext(nic);
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(64);
        region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
        for (int i = 0; i < ROOM; i++) {
            source.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + i / 251));
        }
        a = queuePair(QueuePairType.RC);
        b = queuePair(QueuePairType.RC);
    }

    @AfterEach
    void noPacketWasSent() {
        assertThat(network.packets()).isZero();
    }

    private QueuePair queuePair(QueuePairType type) throws RdmaException {
        return domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .completionQueue(queue).capabilities(QueuePairCapabilities.ofDepth(16, 16)
                        .withElements(4, 4).withInlineData(64)));
    }

    private void connect() throws RdmaException {
        connect(a, b);
        connect(b, a);
    }

    private void connect(QueuePair own, QueuePair peer) throws RdmaException {
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0);
        QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes go = new QueuePairAttributes().state(QueuePairState.RTS)
                .sendPsn(FIRST_PSN);
        if (own.type() == QueuePairType.UD) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC);
            ready.addressVector(there)
                    .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(peer.number())
                    .receivePsn(FIRST_PSN);
        }
        if (own.type() == QueuePairType.RC) {
            ready.maxDestinationReadAtomic(1).minRnrTimerCode(12);
            go.ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1);
        }
        own.modify(init);
        own.modify(ready);
        own.modify(go);
    }

    /** {@return what has completed when nothing is left to do} */
    private List<WorkCompletion> settle() throws RdmaException {
        List<WorkCompletion> completions = new ArrayList<>();
        WorkCompletion completion = new WorkCompletion();
        for (int i = 0; i < 1000; i++) {
            while (queue.poll(completion)) {
                completions.add(completion);
                completion = new WorkCompletion();
            }
            network.advanceTo(network.nowNs() + 100_000);
        }
        return completions;
    }

    private void settleWell(int count) throws RdmaException {
        assertThat(settle()).hasSize(count)
                .allSatisfy(c -> assertThat(c.isSuccess()).as(c.toString()).isTrue());
    }

    private void assertArrived(long length) {
        assertThat(target.asSlice(0, length).mismatch(source.asSlice(0, length))).isEqualTo(-1);
        target.fill((byte) 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MTU - 1, MTU, MTU + 1, 40 * MTU - 1, 256 * MTU, 600 * MTU + 5})
    void wholeMessagesArrive(int length) throws Exception {
        connect();
        long targetAddress = region.address() + ROOM;
        a.postSend(new SendWorkRequest().write(targetAddress, region.rkey()).add(region, 0, length)
                .set(SendFlag.SIGNALED));
        settleWell(1);
        assertArrived(length);
        b.postReceive(new ReceiveWorkRequest().add(region, ROOM, ROOM));
        a.postSend(new SendWorkRequest().send().add(region, 0, length).set(SendFlag.SIGNALED));
        settleWell(2);
        assertArrived(length);
        a.postSend(new SendWorkRequest().read(region.address(), region.rkey())
                .add(region, ROOM, length).set(SendFlag.SIGNALED));
        settleWell(1);
        assertArrived(length);
        int packets = Math.max(1, (length + MTU - 1) / MTU);
        assertThat(a.query().sendPsn()).isEqualTo(FIRST_PSN + 3 * packets & 0xffffff);
        assertThat(b.query().receivePsn()).isEqualTo(FIRST_PSN + 3 * packets & 0xffffff);
        // A READ asks for 512 packets at a time.
        assertThat(counted(a, Counter.SENT_PKTS))
                .isEqualTo(2 * packets + Math.ceilDiv(packets, 512));
        assertThat(counted(a, Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, MTU, 5 * MTU + 1, 300 * MTU})
    void pieceByPiece(int first) throws Exception {
        connect();
        int length = 600 * MTU + 77;
        int second = 2 * MTU + 9;
        int rest = length - first - second;
        b.postReceive(new ReceiveWorkRequest().add(region, ROOM, second)
                .add(region, ROOM + second, first).add(region, ROOM + second + first, rest));
        a.postSend(new SendWorkRequest().send().add(region, 0, first).add(region, first, second)
                .add(region, first + second, rest).set(SendFlag.SIGNALED));
        settleWell(2);
        assertArrived(length);
        a.postSend(new SendWorkRequest().read(region.address(), region.rkey())
                .add(region, ROOM, first).add(region, ROOM + first, second)
                .add(region, ROOM + first + second, rest).set(SendFlag.SIGNALED));
        settleWell(1);
        assertArrived(length);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"UC", "UD"})
    void unreliableServicesNeedNoNetworkEither(QueuePairType type) throws Exception {
        a = queuePair(type);
        b = queuePair(type);
        connect();
        b.postReceive(new ReceiveWorkRequest().add(region, ROOM, ROOM));
        SendWorkRequest request = new SendWorkRequest().send().add(region, 0, MTU);
        if (type == QueuePairType.UD) {
            request.to(domain.createAddressHandle(
                    there), b.number(), QKEY);
        }
        a.postSend(request);
        settleWell(1);
        int header = type == QueuePairType.UD ? AddressHandle.GLOBAL_ROUTE_LENGTH : 0;
        assertThat(target.asSlice(header, MTU).mismatch(source.asSlice(0, MTU))).isEqualTo(-1);
    }

    @Test
    void atomicsAndInlineDataToo() throws Exception {
        connect();
        target.set(ValueLayout.JAVA_LONG, 8, 40);
        a.postSend(new SendWorkRequest().fetchAndAdd(region.address() + ROOM + 8, region.rkey(), 2)
                .add(region, ROOM + 16, 8).set(SendFlag.SIGNALED));
        a.postSend(new SendWorkRequest().write(region.address() + ROOM, region.rkey())
                .inline(MemorySegment.ofArray(new long[]{17})).set(SendFlag.SIGNALED));
        settleWell(2);
        assertThat(target.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(17);
        assertThat(target.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
        assertThat(target.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(40);
    }

    @Test
    void aNullRegionGivesZerosForAsMuchAsGoesAtOnce() throws Exception {
        connect();
        MemoryRegion nothing = domain.registerNull();
        target.fill((byte) 1);
        for (int i = 0; i < 4; i++) {
            a.postSend(new SendWorkRequest().write(region.address() + ROOM, region.rkey())
                    .add(12345, ROOM, nothing.lkey()).set(SendFlag.SIGNALED));
        }
        settleWell(4);
        assertThat(target.mismatch(Arena.ofAuto().allocate(ROOM))).isEqualTo(-1);
        nothing.close();
    }

    @Test
    void queuePairMayBeConnectedToItself() throws Exception {
        connect();
        b.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        connect(b, b);
        b.postReceive(new ReceiveWorkRequest().add(region, ROOM, ROOM));
        b.postSend(new SendWorkRequest().send().add(region, 0, 90 * MTU).set(SendFlag.SIGNALED));
        settleWell(2);
        assertArrived(90 * MTU);
    }

    @Test
    void receiverThatIsNotReadyIsWaitedFor() throws Exception {
        connect();
        a.postSend(new SendWorkRequest().send().add(region, 0, 50 * MTU).set(SendFlag.SIGNALED));
        queue.poll(new WorkCompletion());
        assertThat(counted(a, Counter.RCVD_RNR_ERR)).isPositive();
        b.postReceive(new ReceiveWorkRequest().add(region, ROOM, ROOM));
        settleWell(2);
        assertArrived(50 * MTU);
    }

    @Test
    void whatIsForbiddenIsRefused() throws Exception {
        connect();
        a.postSend(new SendWorkRequest().write(region.address() + ROOM, region.rkey() + 1)
                .add(region, 0, 9 * MTU).set(SendFlag.SIGNALED));
        assertThat(settle()).extracting(WorkCompletion::status)
                .containsExactly(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(b.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void peerThatIsGoneIsNoticedByItsSilence() throws Exception {
        connect();
        b.close();
        a.postSend(new SendWorkRequest().write(region.address() + ROOM, region.rkey())
                .add(region, 0, 9 * MTU).set(SendFlag.SIGNALED));
        List<WorkCompletion> completions = new ArrayList<>();
        for (int i = 0; i < 100 && completions.isEmpty(); i++) {
            completions.addAll(settle());
        }
        assertThat(completions).extracting(WorkCompletion::status)
                .containsExactly(WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
    }

    @Test
    void memoryThatIsGoneFailsItsOwnerAlone() throws Exception {
        connect();
        Arena arena = Arena.ofShared();
        MemoryRegion gone = domain.register(arena.allocate(9 * MTU));
        arena.close();
        a.postSend(new SendWorkRequest().write(region.address() + ROOM, region.rkey())
                .add(gone, 0, 9 * MTU).set(SendFlag.SIGNALED));
        assertThat(settle()).extracting(WorkCompletion::status)
                .containsExactly(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(a.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void memoryOfAClosedRegionIsKeptByNobody() throws Exception {
        connect();
        WeakReference<MemorySegment.Scope> used = writtenFromAndTo();
        for (int i = 0; i < 20 && used.get() != null; i++) {
            System.gc();
        }
        assertThat(used.get()).isNull();
    }

    private WeakReference<MemorySegment.Scope> writtenFromAndTo() throws Exception {
        MemorySegment own = Arena.ofAuto().allocate(5 * MTU);
        try (MemoryRegion ownRegion = domain.register(own, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE)) {
            a.postSend(new SendWorkRequest().id(1).set(SendFlag.SIGNALED)
                    .write(ownRegion.address() + 3 * MTU, ownRegion.rkey())
                    .add(ownRegion, 0, 2 * MTU));
            assertThat(settle()).singleElement()
                    .satisfies(completion -> assertThat(completion.isSuccess()).isTrue());
        }
        return new WeakReference<>(own.scope());
    }
}
