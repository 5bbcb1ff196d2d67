// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Datagrams to one and to many. */
class DatagramTest {
    private static final int QKEY = 0x1111_1111;
    private static final int HEADER = AddressHandle.GLOBAL_ROUTE_LENGTH;
    private static final Gid GROUP = Gid.of(InetAddress.ofLiteral("239.1.2.3"));

    private final Pair pair = Pair.of(QueuePairType.UD);
    private final AddressHandle toB = pair.a.node.domain.createAddressHandle(
            AddressHandleAttributes.to(pair.b.node.nic.gids().get(1), 1));

    DatagramTest() throws Exception {}

    private SendWorkRequest datagram(long id, int length) {
        return pair.a.request(id).send().add(pair.a.region, 0, length).to(toB,
                pair.b.queuePair.number(), QKEY);
    }

    private boolean hasArrived(int length) {
        return MemorySegment.mismatch(pair.b.memory, Pair.MEMORY / 2 + HEADER,
                Pair.MEMORY / 2 + HEADER + length, pair.a.memory, 0, length) == -1;
    }

    @Test
    void datagramArrivesBehindItsHeader() throws Exception {
        pair.b.receive(10, 1000 + HEADER);
        pair.a.queuePair.postSend(datagram(1, 1000));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions).singleElement().satisfies(completion -> {
            assertThat(completion.byteLength()).isEqualTo(1000 + HEADER);
            assertThat(completion.sourceQueuePairNumber()).isEqualTo(pair.a.queuePair.number());
            assertThat(completion.has(WorkCompletionFlag.GRH)).isTrue();
        });
        assertThat(hasArrived(1000)).isTrue();
    }

    @Test
    void answerFindsItsWayBack() throws Exception {
        pair.b.receive(10, 100 + HEADER);
        pair.a.queuePair.postSend(datagram(1, 100));
        pair.settle();
        WorkCompletion arrived = pair.b.completions.getFirst();
        AddressHandle back = pair.b.node.domain.createAddressHandle(1, arrived,
                pair.b.memory.asSlice(Pair.MEMORY / 2, HEADER));
        assertThat(back.attributes().destination()).isEqualTo(pair.a.node.nic.gids().get(1));
        pair.a.receive(20, 100 + HEADER);
        pair.b.queuePair.postSend(pair.b.request(2).send().add(pair.b.region, 0, 50).to(back,
                arrived.sourceQueuePairNumber(), QKEY));
        pair.settle();
        assertThat(pair.a.completions).anyMatch(c -> c.id() == 20 && c.isSuccess());
    }

    @Test
    void memoryWithoutHeaderIsNoWayBack() throws Exception {
        pair.b.receive(10, 100 + HEADER);
        pair.a.queuePair.postSend(datagram(1, 100));
        pair.settle();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.node.domain.createAddressHandle(1,
                        pair.b.completions.getFirst(), pair.b.memory.asSlice(0, HEADER)))
                .withMessageContaining("no global route header");
    }

    @Test
    void wrongQkeyIsDroppedAndCounted() throws Exception {
        pair.b.receive(10, 1000);
        pair.a.queuePair.postSend(datagram(1, 100).to(toB, pair.b.queuePair.number(), 5));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions).isEmpty();
        assertThat(counted(pair.b.queuePair, Counter.DROPPED_BAD_QKEY)).isEqualTo(1);
    }

    @Test
    void privilegedQkeyStandsForTheQueuePairsOwn() throws Exception {
        pair.b.receive(10, 1000);
        pair.a.queuePair
                .postSend(datagram(1, 100).to(toB, pair.b.queuePair.number(), 0x8000_0000));
        pair.settle();
        pair.b.assertCompleted("10 SUCCESS");
    }

    @Test
    void datagramThatDoesNotFitItsReceiveRequestIsDropped() throws Exception {
        pair.b.receive(10, 100 + HEADER - 1);
        pair.a.queuePair.postSend(datagram(1, 100));
        pair.a.queuePair.postSend(datagram(2, 99));
        pair.settle();
        assertThat(pair.b.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(99 + HEADER));
        assertThat(counted(pair.b.queuePair, Counter.DROPPED_MESSAGE)).isEqualTo(1);
    }

    @Test
    void datagramLongerThanAPacketIsRefusedWhenPosted() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(datagram(1, 4097)))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EMSGSIZE))
                .withMessageContaining("4096");
    }

    @Test
    void datagramWithoutAWayOrWithAnothersIsRefusedWhenPosted() throws Exception {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair
                        .postSend(new SendWorkRequest().send().add(pair.a.region, 0, 8)))
                .withMessageContaining("address handle");
        AddressHandle foreign = pair.a.node.context.allocateProtectionDomain()
                .createAddressHandle(toB.attributes());
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(
                        datagram(1, 8).to(foreign, pair.b.queuePair.number(), QKEY)))
                .withMessageContaining("protection domain");
        toB.close();
        assertThat(catchThrowable(
                () -> pair.a.queuePair.postSend(datagram(1, 8))))
                .isInstanceOf(RdmaClosedException.class);
    }

    @Test
    void onlyMessagesCanBeDatagrams() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(datagram(1, 8).write(0, 0)))
                .withMessageContaining("type UD");
    }

    // ---------------------------------------------------------------- groups

    private AddressHandle toGroup(Pair.Side side) throws RdmaException {
        return side.node.domain.createAddressHandle(AddressHandleAttributes.to(GROUP, 1));
    }

    @Test
    void datagramToAGroupReachesEveryMember() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.type = QueuePairType.UD;
        Pair.Side second = pair.new Side(pair.simulation.b, settings);
        second.connect(pair.a, settings);
        for (Pair.Side member : new Pair.Side[]{pair.a, pair.b, second}) {
            member.queuePair.attachMulticast(GROUP);
            member.queuePair.attachMulticast(GROUP);
            member.receive(10, 100 + HEADER);
        }
        pair.a.queuePair.postSend(datagram(1, 100).to(toGroup(pair.a), 0xffffff, QKEY));
        pair.settle();
        second.takeCompletions();
        assertThat(pair.a.completions).hasSize(2).allMatch(WorkCompletion::isSuccess);
        pair.b.assertCompleted("10 SUCCESS");
        second.assertCompleted("10 SUCCESS");
    }

    @Test
    void memberThatLeftHearsNothingMore() throws Exception {
        pair.b.queuePair.attachMulticast(GROUP);
        pair.b.receive(10, 100 + HEADER);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(pair.b.queuePair::close)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                .withMessageContaining("multicast");
        pair.b.queuePair.detachMulticast(GROUP);
        pair.a.queuePair.postSend(datagram(1, 100).to(toGroup(pair.a), 0xffffff, QKEY));
        pair.settle();
        assertThat(pair.b.completions).isEmpty();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair.detachMulticast(GROUP))
                .withMessageContaining("not attached");
        pair.b.queuePair.close();
    }

    @Test
    void groupThatIsFullTakesNobody() throws Exception {
        long most = pair.b.node.context.queryDevice().limit(DeviceLimit.MAX_MCAST_QP_ATTACH);
        QueuePairInitAttributes datagrams = new QueuePairInitAttributes().type(QueuePairType.UD)
                .completionQueue(pair.b.completionQueue);
        List<QueuePair> members = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            QueuePair member = pair.b.node.domain.createQueuePair(datagrams);
            member.attachMulticast(GROUP);
            members.add(member);
        }
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair.attachMulticast(GROUP))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
                .withMessageContaining("max_mcast_qp_attach is " + most);
        members.getFirst().detachMulticast(GROUP);
        pair.b.queuePair.attachMulticast(GROUP);
    }

    @Test
    void connectionManagerIsNotReachedThroughAGroup() throws Exception {
        pair.b.queuePair.attachMulticast(GROUP);
        pair.a.queuePair.postSend(datagram(1, IbConnectionManager.MESSAGE_LENGTH)
                .to(toGroup(pair.a), IbConnectionManager.QUEUE_PAIR, QKEY));
        pair.settle();
        assertThat(counted(pair.b.node.context, Counter.DROPPED_UNKNOWN_QP)).isOne();
        assertThat(counted(pair.b.node.context, Counter.RCVD_PKTS)).isZero();
    }

    @Test
    void groupsAreForDatagramsAndMulticastAddresses() throws Exception {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair.attachMulticast(pair.b.node.nic.gids().get(1)))
                .withMessageContaining("no multicast address");
        Pair reliable = new Pair();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> reliable.b.queuePair.attachMulticast(GROUP))
                .withMessageContaining("only UD");
    }

    @Test
    void receivesOfAQueuePairInErrorAreFlushed() throws Exception {
        pair.b.receive(10, 100);
        pair.b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        pair.settle();
        pair.b.assertCompleted("10 WORK_REQUEST_FLUSHED");
    }

    @Test
    void connectionToAGroupIsRefused() throws Exception {
        Pair reliable = new Pair();
        reliable.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        reliable.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0).accessFlags(Set.of()));
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> reliable.a.queuePair
                        .modify(new QueuePairAttributes().state(QueuePairState.RTR)
                                .addressVector(AddressHandleAttributes.to(GROUP, 1))
                                .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(5).receivePsn(0)
                                .maxDestinationReadAtomic(1).minRnrTimerCode(1)))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining("multicast");
    }
}
