// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.PortView;
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
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Every transport service over IPv6: two queue pairs at one address of a simulated network. */
class Ipv6Test {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("::1");
    private static final Gid GROUP = Gid.of(InetAddress.ofLiteral("ff02::1234"));
    private static final int QKEY = 0x0333_3333;
    private static final int LENGTH = 3000;

    private final SimulatedNetwork network = new SimulatedNetwork(6);
    private final MemorySegment memory = Arena.ofAuto().allocate(3 * 4096, 8);
    private SoftNic nic;
    private SoftDeviceContext context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private MemoryRegion region;

    @BeforeEach
    void open() throws Exception {
        SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), true,
                () -> new PortView(true, true, List.of(LOOPBACK)));
        nic = new SoftNic(device, RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt,
                network::nowNs, null);
        nic.start(LOOPBACK);
        context = new SoftDeviceContext(nic);
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(16);
        region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ);
        for (int i = 0; i < 4096; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
        }
    }

    private QueuePair queuePair(QueuePairType type) throws RdmaException {
        return domain.createQueuePair(
                new QueuePairInitAttributes().type(type).completionQueue(queue));
    }

    private void connect(QueuePair own, QueuePair peer) throws RdmaException {
        boolean isDatagram = own.type() == QueuePairType.UD;
        boolean isReliable = own.type() == QueuePairType.RC;
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0);
        QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes go = new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(9);
        if (isDatagram) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            ready.addressVector(AddressHandleAttributes.to(Gid.of(LOOPBACK), 0))
                    .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(peer.number()).receivePsn(9);
        }
        if (isReliable) {
            ready.maxDestinationReadAtomic(1).minRnrTimerCode(12);
            go.ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1);
        }
        own.modify(init);
        own.modify(ready);
        own.modify(go);
    }

    private List<WorkCompletion> settle() throws RdmaException {
        List<WorkCompletion> completions = new ArrayList<>();
        WorkCompletion completion = new WorkCompletion();
        for (int i = 0; i < 1000; i++) {
            while (queue.poll(completion)) {
                assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                completions.add(completion);
                completion = new WorkCompletion();
            }
            network.advanceTo(network.nowNs() + 100_000);
        }
        return completions;
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC"})
    void connectedQueuePairsExchangeMessages(QueuePairType type) throws Exception {
        QueuePair a = queuePair(type);
        QueuePair b = queuePair(type);
        connect(a, b);
        connect(b, a);
        b.postReceive(new ReceiveWorkRequest().add(region, 4096, LENGTH));
        a.postSend(new SendWorkRequest().send().add(region, 0, LENGTH).set(SendFlag.SIGNALED));
        a.postSend(new SendWorkRequest().write(region.address() + 8192, region.rkey())
                .add(region, 0, LENGTH).set(SendFlag.SIGNALED));
        assertThat(settle()).hasSize(3);
        assertThat(memory.asSlice(4096, LENGTH).mismatch(memory.asSlice(0, LENGTH))).isEqualTo(-1);
        assertThat(memory.asSlice(8192, LENGTH).mismatch(memory.asSlice(0, LENGTH))).isEqualTo(-1);
    }

    @Test
    void datagramArrivesAndIsAnswered() throws Exception {
        QueuePair a = queuePair(QueuePairType.UD);
        QueuePair b = queuePair(QueuePairType.UD);
        connect(a, b);
        connect(b, a);
        AddressHandle there = domain
                .createAddressHandle(AddressHandleAttributes.to(Gid.of(LOOPBACK), 0));
        b.postReceive(new ReceiveWorkRequest().id(1).add(region, 4096, 4096));
        a.postSend(new SendWorkRequest().send().add(region, 0, LENGTH).to(there, b.number(), QKEY));
        WorkCompletion arrived = settle().getFirst();
        assertThat(memory.asSlice(4096 + AddressHandle.GLOBAL_ROUTE_LENGTH, LENGTH)
                .mismatch(memory.asSlice(0, LENGTH))).isEqualTo(-1);
        AddressHandle back = domain.createAddressHandle(1, arrived, memory.asSlice(4096));
        assertThat(back.attributes().destination()).isEqualTo(Gid.of(LOOPBACK));
        assertThat(back.attributes().sourceGidIndex()).isZero();
        a.postReceive(new ReceiveWorkRequest().id(2).add(region, 8192, 4096));
        b.postSend(new SendWorkRequest().send().add(region, 0, 8).to(back,
                arrived.sourceQueuePairNumber(), QKEY));
        assertThat(settle()).singleElement().satisfies(c -> assertThat(c.id()).isEqualTo(2));
    }

    @Test
    void datagramReachesAGroup() throws Exception {
        QueuePair a = queuePair(QueuePairType.UD);
        QueuePair b = queuePair(QueuePairType.UD);
        connect(a, b);
        connect(b, a);
        b.attachMulticast(GROUP);
        AddressHandle group = domain.createAddressHandle(AddressHandleAttributes.to(GROUP, 0));
        b.postReceive(new ReceiveWorkRequest().id(1).add(region, 4096, 4096));
        a.postSend(new SendWorkRequest().send().add(region, 0, 100).to(group, 0xffffff, QKEY));
        assertThat(settle()).singleElement().satisfies(c -> assertThat(c.byteLength())
                .isEqualTo(100 + AddressHandle.GLOBAL_ROUTE_LENGTH));
        b.detachMulticast(GROUP);
    }
}
