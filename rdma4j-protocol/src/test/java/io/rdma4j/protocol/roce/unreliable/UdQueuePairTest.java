// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.GlobalRouteHeader;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Datagrams, each a message of its own, behind a header that says where it comes from. IBTA 9.8.3. */
class UdQueuePairTest {
    private static final int HEADER = GlobalRouteHeader.LENGTH;
    private static final int QKEY = 0x1111_1111;
    private static final int PRIVILEGED = 0x8000_0000;

    private final UnreliablePair.Settings settings = new UnreliablePair.Settings();
    private UnreliablePair pair = begin();
    private UnreliableEnd a = pair.a;
    private UnreliableEnd b = pair.b;

    private UnreliablePair begin() {
        settings.type = QueuePairType.UD;
        pair = new UnreliablePair(settings);
        a = pair.a;
        b = pair.b;
        return pair;
    }

    private SendWorkRequest datagram(long id, int length) {
        return datagram(id, length, QKEY);
    }

    /** The handle says which way it goes, which the device has found out already. */
    @SuppressWarnings("NullAway")
    private SendWorkRequest datagram(long id, int length, int qkey) {
        return a.sendRequest(id, length).to(null, b.number, qkey);
    }

    private OutgoingPacket packet(int length, int qkey) {
        OutgoingPacket packet = a.forge(Opcode.UD_SEND_ONLY, 0, length);
        return packet.datagram(qkey, a.number);
    }

    // [IBTA 9.8.3-1]
    @ParameterizedTest
    @CsvSource({"0, false", "1, false", "1000, false", "4096, false", "1000, true"})
    void datagramArrivesBehindTheHeaderThatSaysWhereItComesFrom(int length, boolean isIpv6) {
        settings.isIpv6 = isIpv6;
        begin();
        b.receive(7, HEADER + length);
        a.post(datagram(1, length));
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.completions).containsExactly(new UnreliableEnd.Completion(7,
                WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, HEADER + length, null,
                false, a.number, true));
        assertThat(b.hasPeersBytes(HEADER, length)).isTrue();
        assertThat(GlobalRouteHeader.read(b.memory.asSlice(UnreliableEnd.UPPER, HEADER)))
                .satisfies(addresses -> {
                    assertThat(addresses.source()).isEqualTo(a.gid());
                    assertThat(addresses.destination()).isEqualTo(b.gid());
                });
    }

    @Test
    void immediateAndSolicitationComeAlong() {
        b.receive(7, HEADER + 100);
        b.receive(8, HEADER + 100);
        b.receive(9, HEADER + 100);
        a.post(datagram(1, 10).sendWithImmediate(0x1234));
        a.post(datagram(2, 10).set(SendFlag.SOLICITED));
        a.post(datagram(3, 10));
        pair.settle();
        assertThat(pair.trace).containsExactly("a>b SEND_ONLY_IMMEDIATE 0", "a>b SEND_ONLY 1",
                "a>b SEND_ONLY 2");
        assertThat(b.completions).extracting(UnreliableEnd.Completion::immediate)
                .containsExactly(0x1234, null, null);
        assertThat(b.completions).extracting(UnreliableEnd.Completion::isSolicited)
                .containsExactly(false, true, false);
    }

    @Test
    void lossDropsOneDatagramAndOrderDoesNotMatter() {
        b.receive(7, HEADER + 100);
        b.receive(8, HEADER + 100);
        pair.loseFirst(packet -> true);
        pair.holdBackFirst(packet -> packet.payloadLength() == 20);
        a.post(datagram(1, 10));
        a.post(datagram(2, 20));
        a.post(datagram(3, 30));
        pair.settle();
        assertThat(b.completions).extracting(UnreliableEnd.Completion::byteLength)
                .containsExactly(HEADER + 30L, HEADER + 20L);
    }

    // ---------------------------------------------------------------- keys

    // [IBTA 9.6.1-4]
    @Test
    void datagramWithAnotherKeyIsDroppedAndTakesNoReceive() {
        b.receive(7, HEADER + 100);
        a.post(datagram(1, 10, QKEY + 1));
        pair.settle();
        assertThat(b.completions).isEmpty();
        assertThat(b.receives.available()).isOne();
        assertThat(b.counted(Counter.DROPPED_BAD_QKEY)).isOne();
        assertThat(b.counted(Counter.DROPPED_MESSAGE)).isZero();
    }

    /** No unprivileged user can forge such a key; who asks for one sends that of the queue pair. IBTA 10.2.5. */
    @Test
    void privilegedKeyOfARequestStandsForTheQueuePairsOwn() {
        settings.qkey = 0x2222_2222;
        begin();
        b.receive(7, HEADER + 100);
        a.post(datagram(1, 10, PRIVILEGED | 5));
        pair.settle();
        b.assertCompleted("7 SUCCESS");
    }

    @Test
    void keyOfTheQueuePairMayBeChanged() {
        b.modify(new QueuePairAttributes().state(QueuePairState.RTS).qkey(5));
        b.receive(7, HEADER + 100);
        a.post(datagram(1, 10, QKEY));
        a.post(datagram(2, 10, 5));
        pair.settle();
        b.assertCompleted("7 SUCCESS");
        assertThat(b.counted(Counter.DROPPED_BAD_QKEY)).isOne();
    }

    // ---------------------------------------------------------------- receives

    // [IBTA 9.8.3-2]
    @Test
    void datagramWithoutAReceiveIsDropped() {
        a.post(datagram(1, 10));
        pair.settle();
        assertThat(b.counted(Counter.DROPPED_MESSAGE)).isOne();
    }

    // [IBTA 9.8.3-2]
    @ParameterizedTest
    @ValueSource(ints = {0, 39, 139})
    void datagramThatDoesNotFitIsDroppedAndTheReceiveWaits(int room) {
        b.receive(7, room);
        a.post(datagram(1, 100));
        pair.settle();
        assertThat(b.completions).isEmpty();
        assertThat(b.hasPeersBytes(0, 0)).isTrue();
        assertThat(b.counted(Counter.DROPPED_MESSAGE)).isOne();
    }

    @Test
    void shorterDatagramTakesTheReceiveThatWaited() {
        b.receive(7, HEADER + 99);
        a.post(datagram(1, 100));
        a.post(datagram(2, 99));
        pair.settle();
        assertThat(b.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(HEADER + 99));
    }

    @Test
    void headerAndPayloadMayLieInDifferentElements() {
        long to = b.address + UnreliableEnd.UPPER;
        b.post(new ReceiveWorkRequest().id(7).add(to + 1000, HEADER - 10, b.key)
                .add(to + 2000, 10, b.key).add(to, 100, b.key));
        a.post(datagram(1, 100));
        pair.settle();
        b.assertCompleted("7 SUCCESS");
        assertThat(b.hasPeersBytes(0, 100)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        // which elements may be written: that of the header, that of the payload
        "false, true", "true, false"})
    void receiveIntoMemoryThatMayNotBeWrittenFailsTheQueuePair(boolean header, boolean payload) {
        b.regions.register(6, 0, Arena.ofAuto().allocate(200), EnumSet.of(AccessFlag.REMOTE_READ));
        b.post(new ReceiveWorkRequest().id(7)
                .add(header ? b.address : 0, HEADER, header ? b.key : 6)
                .add(payload ? b.address : 0, 100, payload ? b.key : 6));
        b.receive(8, HEADER + 100);
        a.post(datagram(1, 100));
        pair.settle();
        b.assertCompleted("7 LOCAL_PROTECTION_ERROR", "8 WORK_REQUEST_FLUSHED");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void datagramWhoseSourceIsGoneIsLostAndTheReceiveWaits() {
        b.receive(7, HEADER + 100);
        Arena arena = Arena.ofConfined();
        MemorySegment payload = arena.allocate(40);
        arena.close();
        PacketView view = pair.deliverFromMemory(b, packet(0, QKEY), payload);
        assertThat(view.isPayloadGone()).isTrue();
        assertThat(b.completions).isEmpty();
        pair.deliver(b, packet(10, QKEY));
        b.assertCompleted("7 SUCCESS");
    }

    // ---------------------------------------------------------------- sending

    @Test
    void datagramSaysFromWhomItIsAndToWhom() {
        OutgoingPacket packet = new OutgoingPacket();
        a.post(datagram(1, 10));
        assertThat(a.queuePair.pollTransmit(packet, 0)).isTrue();
        assertThat(packet.destinationQueuePairNumber()).isEqualTo(b.number);
        assertThat(packet.path()).isEqualTo(a.way());
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        PacketView view = new PacketView();
        assertThat(view.wrap(MemorySegment.ofArray(bytes), 0, bytes.length)).isNull();
        assertThat(view.sourceQueuePairNumber()).isEqualTo(a.number);
        assertThat(view.qkey()).isEqualTo(QKEY);
    }

    @Test
    void datagramWithoutAWayCannotBeSent() {
        a.sends.post(datagram(1, 10));
        assertThatIllegalArgumentException().isThrownBy(pair::settle)
                .withMessageContaining("no path");
        assertThatIllegalArgumentException().isThrownBy(() -> a.queuePair.route(Path.NONE));
    }
}
