// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each counter counts what it says, as often as it happens: for the queue pair if it belongs to one, and
 * for the device.
 */
class CounterTest {
    private final Pair.Settings settings = new Pair.Settings();
    private Pair pair = new Pair(settings);

    CounterTest() throws Exception {}

    /**
     * The port going down is for the system to say, what comes for another process, and what is malformed for a ring:
     * see MisdirectedPacketsTest.
     */
    // [IBTA 9.6.1-1] [IBTA 9.6.1-2] [IBTA 9.6.1-3]
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"LINK_DOWNED", "DROPPED_MISDIRECTED",
        "DROPPED_MALFORMED"})
    void counterCountsWhatItSays(Counter counter) throws Exception {
        switch (counter) {
            case SENT_PKTS -> {
                writeThreePackets();
                assertCounted(pair.a, counter, 3);
                assertCounted(pair.b, counter, 1);
            }
            case RCVD_PKTS -> {
                writeThreePackets();
                assertCounted(pair.b, counter, 3);
                assertCounted(pair.a, counter, 1);
            }
            case SENT_BYTES -> {
                writeThreePackets();
                assertCounted(pair.a, counter, 2500 + 3 * (12 + 4) + 16);
            }
            case RCVD_BYTES -> {
                writeThreePackets();
                assertCounted(pair.b, counter, 2500 + 3 * (12 + 4) + 16);
            }
            case DUPLICATE_REQUEST -> {
                lose(1, packet -> packet.opcode().isResponse());
                pair.a.write(1, 100);
                pair.settle();
                assertCounted(pair.b, counter, 1);
            }
            case OUT_OF_SEQ_REQUEST -> {
                // Four packets come ahead of the lost one; one NAK is sent.
                lose(1, packet -> packet.opcode() == Opcode.RC_WRITE_FIRST);
                pair.a.write(1, 5000);
                pair.settle();
                assertCounted(pair.b, counter, 1);
            }
            case RCVD_SEQ_ERR -> {
                lose(1, packet -> packet.opcode() == Opcode.RC_WRITE_FIRST);
                pair.a.write(1, 5000);
                pair.settle();
                assertCounted(pair.a, counter, 1);
            }
            case RETRANSMITTED_PKTS -> {
                lose(1, packet -> packet.opcode() == Opcode.RC_WRITE_FIRST);
                pair.a.write(1, 5000);
                pair.settle();
                assertCounted(pair.a, counter, 5);
            }
            case COMPLETER_RETRY_ERR -> {
                lose(2, packet -> packet.opcode() == Opcode.RC_WRITE_ONLY);
                pair.a.write(1, 100);
                pair.settle();
                assertCounted(pair.a, counter, 2);
            }
            case RCVD_RNR_ERR -> {
                exceedReceiverNotReady();
                assertCounted(pair.a, counter, 3);
            }
            case SEND_RNR_ERR -> {
                exceedReceiverNotReady();
                assertCounted(pair.b, counter, 3);
            }
            case RETRY_RNR_EXCEEDED_ERR -> {
                exceedReceiverNotReady();
                assertCounted(pair.a, counter, 1);
            }
            case RETRY_EXCEEDED_ERR -> {
                pair.simulation.network.loseIf(packet -> true);
                pair.a.write(1, 100);
                pair.settle();
                assertCounted(pair.a, counter, 1);
            }
            case ACK_DEFERRED -> {
                pair.a.read(1, 5000);
                pair.a.write(2, 100);
                pair.settle();
                assertCounted(pair.b, counter, 1);
            }
            case SEND_ERR -> {
                pair.a.node.nic.transport().release(pair.a.node.nic.gids().get(1));
                pair.a.write(1, 100);
                assertCounted(pair.a, counter, 1);
                assertCounted(pair.a, Counter.SENT_PKTS, 0);
            }
            case RDMA_SENDS -> {
                exchange();
                assertCounted(pair.a, counter, 2);
            }
            case RDMA_RECVS -> {
                exchange();
                assertCounted(pair.b, counter, 3);
            }
            case DROPPED_NOT_READY -> {
                pair.b.queuePair
                        .modify(new QueuePairAttributes().state(QueuePairState.ERR));
                writeThreePackets(1);
                assertCounted(pair.b, counter, 3);
            }
            case DROPPED_WRONG_SOURCE -> {
                Gid stranger = Gid.of(InetAddress.ofLiteral("127.0.0.66"));
                arrive(stranger, sealed(forged(Opcode.RC_ACKNOWLEDGE).acknowledgement(0x1f, 0),
                        stranger));
                assertCounted(pair.b, counter, 1);
            }
            case DROPPED_GHOST_ACK -> {
                arrive(sealed(forged(Opcode.RC_ACKNOWLEDGE).acknowledgement(0x1f, 0)));
                assertCounted(pair.b, counter, 1);
            }
            case DROPPED_TOO_SHORT -> {
                arrive(new byte[5]);
                assertCounted(counter);
            }
            case DROPPED_UNKNOWN_OPCODE -> {
                // Of the service of raw packets, which there is not.
                OutgoingPacket packet = forged(Opcode.RC_ACKNOWLEDGE).acknowledgement(0x1f, 0);
                arrive(sealed(packet, packet.path().source(), bytes -> bytes[0] = (byte) 0xff));
                assertCounted(counter);
            }
            case DROPPED_BAD_VERSION -> {
                OutgoingPacket packet = forged(Opcode.RC_ACKNOWLEDGE).acknowledgement(0x1f, 0);
                arrive(sealed(packet, packet.path().source(), bytes -> bytes[1] |= 1));
                assertCounted(counter);
            }
            case DROPPED_UNEXPECTED_PAYLOAD -> {
                // A SEND that says that it is an acknowledgement.
                OutgoingPacket packet = forged(Opcode.RC_SEND_ONLY);
                packet.addPayload(pair.a.memory, 0, 100);
                arrive(sealed(packet, packet.path().source(),
                        bytes -> bytes[0] = (byte) Opcode.RC_ACKNOWLEDGE.code()));
                assertCounted(counter);
            }
            case DROPPED_BAD_ICRC -> {
                byte[] bytes = sealed(forged(Opcode.RC_ACKNOWLEDGE).acknowledgement(0x1f, 0));
                bytes[10] ^= 1;
                arrive(bytes);
                assertCounted(counter);
            }
            case DROPPED_UNKNOWN_QP -> {
                arrive(sealed(forged(Opcode.UC_SEND_ONLY)));
                assertCounted(counter);
            }
            case DROPPED_BAD_PKEY -> {
                OutgoingPacket packet = forged(Opcode.RC_ACKNOWLEDGE).acknowledgement(0x1f, 0);
                arrive(sealed(packet, packet.path().source(), bytes -> bytes[2] = 0x12));
                assertCounted(counter);
            }
            case DROPPED_BAD_QKEY -> {
                arrive(sealed(management(0x1111_1111)));
                assertCounted(counter);
            }
            case RP_CNP_IGNORED -> {
                arrive(sealed(congestionNotification()));
                assertCounted(pair.b, counter, 1);
                assertCounted(pair.b, Counter.RCVD_PKTS, 1);
                assertThat(counted(pair.b.node.context, Counter.DROPPED_UNKNOWN_QP)).isZero();
            }
            case DROPPED_BAD_MAD -> {
                arrive(sealed(management(IbConnectionManager.QKEY)));
                assertCounted(counter);
                arrive(sealed(messageOfNoConnection()));
                assertThat(counted(pair.b.node.context, counter)).isEqualTo(2);
            }
            case LENT_PKTS -> {
                writeAndReadLent();
                assertCounted(pair.a, counter, 20);
                assertCounted(pair.b, counter, 10);
            }
            case LENT_BYTES -> {
                writeAndReadLent();
                assertCounted(pair.a, counter, 20_000);
                assertCounted(pair.b, counter, 10_000);
            }
            case BORROWED_PKTS -> {
                writeAndReadLent();
                assertCounted(pair.a, counter, 10);
                assertCounted(pair.b, counter, 10);
            }
            case BORROWED_BYTES -> {
                writeAndReadLent();
                assertCounted(pair.a, counter, 10_000);
                assertCounted(pair.b, counter, 10_000);
            }
            case DROPPED_MESSAGE -> assertUnreliableMessageIsDropped();
            case LINK_DOWNED, DROPPED_MISDIRECTED, DROPPED_MALFORMED ->
                throw new IllegalArgumentException("not tested here");
        }
    }

    /** An unreliable connection whose receiver has no receive posted. */
    private void assertUnreliableMessageIsDropped() throws Exception {
        QueuePair from = unreliable(pair.a);
        QueuePair to = unreliable(pair.b);
        connect(from, to, pair.b);
        connect(to, from, pair.a);
        from.postSend(new SendWorkRequest().send().add(pair.a.region, 0, 100));
        pair.settle();
        assertThat(counted(to, Counter.DROPPED_MESSAGE)).isOne();
        assertThat(counted(pair.b.node.context, Counter.DROPPED_MESSAGE)).isOne();
    }

    private static QueuePair unreliable(Pair.Side side) throws Exception {
        return side.node.domain.createQueuePair(new QueuePairInitAttributes()
                .type(QueuePairType.UC).completionQueue(side.completionQueue));
    }

    private static void connect(QueuePair own, QueuePair other, Pair.Side peer) throws Exception {
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_WRITE));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(peer.node.nic.gids().get(1), 1))
                .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(other.number()).receivePsn(3));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(3));
    }

    private void writeThreePackets() throws Exception {
        pair.a.write(1, 2500);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    /** The first go of a write that fails. */
    private void writeThreePackets(int goes) throws Exception {
        pair.a.write(1, 2500);
        pair.run(goes * 1_000_000L);
    }

    /** A write that is withdrawn once, a read, and a write that is too short to be lent. */
    private void writeAndReadLent() throws Exception {
        pair.simulation.network.memory.meet(1, 0, 0);
        pair.simulation.network.memory.lend(0);
        MemoryRegion region = pair.a.node.domain.register(pair.a.memory, AccessFlag.LOCAL_WRITE);
        pair.a.queuePair.postSend(pair.a.request(1)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .add(region, 0, 10_000));
        pair.a.node.poll();
        region.reregister(new MemoryRegionChanges().access(AccessFlag.LOCAL_WRITE));
        pair.a.read(2, 10_000);
        pair.a.write(3, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
    }

    private void exceedReceiverNotReady() throws Exception {
        settings.rnrRetry = 2;
        pair = new Pair(settings);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 RNR_RETRY_EXCEEDED_ERROR");
    }

    /** Two SENDs, of which one is unsignaled, a WRITE, a WRITE with immediate and a READ. */
    private void exchange() throws Exception {
        for (int i = 0; i < 3; i++) {
            pair.b.receive(i, 100);
        }
        pair.a.send(1, 100);
        pair.a.queuePair.postSend(pair.a.request(2).send().add(pair.a.region, 0, 10)
                .set(SendFlag.SIGNALED, false));
        pair.a.write(3, 100);
        pair.a.queuePair.postSend(pair.a.request(4)
                .writeWithImmediate(pair.b.region.address(), pair.b.region.rkey(), 7));
        pair.a.read(5, 100);
        pair.settle();
    }

    /** Loses the first packets that fit. */
    private void lose(int count, Predicate<PacketView> rule) {
        int[] left = {count};
        pair.simulation.network.loseIf(packet -> rule.test(packet) && left[0]-- > 0);
    }

    private OutgoingPacket forged(Opcode opcode) {
        return pair.a.forge(opcode, Pair.FIRST_PSN + 5);
    }

    /** As long as it has to be: 16 bytes that say nothing follow the header. IBTA A17.9.3. */
    private OutgoingPacket congestionNotification() {
        OutgoingPacket packet = pair.a.forge(Opcode.CONGESTION_NOTIFICATION, 0);
        packet.addPayload(pair.a.memory, 0, 16);
        return packet;
    }

    private OutgoingPacket management(int qkey) {
        return management(qkey, pair.a.memory);
    }

    private OutgoingPacket management(int qkey, MemorySegment message) {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.UD_SEND_ONLY, pair.a.pathToPeer(), IbConnectionManager.QUEUE_PAIR, 0,
                        false, false)
                .datagram(qkey, IbConnectionManager.QUEUE_PAIR);
        packet.addPayload(message, 0, IbConnectionManager.MESSAGE_LENGTH);
        return packet;
    }

    /** A ready-to-use message with unknown identifiers. */
    private OutgoingPacket messageOfNoConnection() {
        MemorySegment mad = MemorySegment.ofArray(new byte[IbConnectionManager.MESSAGE_LENGTH]);
        // Base version, class, class version, method "send"; attribute RTU. IBTA 13.4.3, 16.7.1.
        mad.set(Layouts.U32, 0, 0x0107_0203);
        mad.set(Layouts.U16, 16, (short) 0x0014);
        return management(IbConnectionManager.QKEY, mad);
    }

    private byte[] sealed(OutgoingPacket packet) {
        return sealed(packet, packet.path().source());
    }

    private static byte[] sealed(OutgoingPacket packet, Gid source) {
        return sealed(packet, source, bytes -> {});
    }

    private static byte[] sealed(OutgoingPacket packet, Gid source, Consumer<byte[]> change) {
        byte[] bytes = new byte[packet.totalLength()];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        int length = packet.copyTo(memory, 0);
        change.accept(bytes);
        memory.set(Layouts.U32_LITTLE, length, new Icrc().compute(source,
                packet.path().destination(), 4791, 4791, 0, ByteBuffer.wrap(bytes), 0, length));
        return bytes;
    }

    private void arrive(byte[] bytes) {
        arrive(pair.a.node.nic.gids().get(1), bytes);
    }

    private void arrive(Gid source, byte[] bytes) {
        pair.simulation.network.inject(source, pair.b.node.nic.gids().get(1),
                Arrays.copyOf(bytes, bytes.length));
        pair.settle();
    }

    private static void assertCounted(Pair.Side side, Counter counter, long count) {
        assertThat(counted(side.queuePair, counter)).isEqualTo(count);
        assertThat(counted(side.node.context, counter)).isEqualTo(count);
    }

    /** Asserts that something that is of no queue pair was counted once. */
    private void assertCounted(Counter counter) {
        assertThat(counted(pair.b.node.context, counter)).isOne();
        assertThat(pair.b.queuePair.counters()).doesNotContainKey(counter.text());
    }
}
