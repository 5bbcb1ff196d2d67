// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/** Bytes that are no packets, and packets for no queue pair: dropped, counted, harmless. */
class HostileTrafficTest {
    private static final Gid STRANGER = Gid.of(InetAddress.ofLiteral("127.0.0.66"));

    private final Pair pair;
    private final Bystander bystander;
    private final MemorySegment before;

    HostileTrafficTest() throws Exception {
        pair = new Pair();
        bystander = new Bystander(pair, 1);
        before = MemorySegment.ofArray(new byte[Pair.MEMORY]).copyFrom(pair.b.memory);
    }

    @AfterEach
    void connectionsAndMemoryAreUnharmed() throws Exception {
        bystander.assertUnharmed();
        assertThat(pair.b.memory.mismatch(before)).isEqualTo(-1);
        pair.a.write(1, 5000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
    }

    /** The bytes arrive while another connection is busy. */
    private void receive(byte[] bytes) {
        bystander.want(1);
        pair.simulation.network.inject(pair.a.node.nic.gids().get(1),
                pair.b.node.nic.gids().get(1), bytes);
        pair.settle();
    }

    private long count(Counter counter) {
        return counted(pair.b.node.context, counter);
    }

    /** {@return a packet as it stands on the wire, with the right ICRC} */
    private static byte[] bytes(OutgoingPacket packet, Gid source) {
        byte[] bytes = new byte[packet.totalLength()];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        int length = packet.copyTo(memory, 0);
        seal(bytes, length, source, packet.path().destination());
        return bytes;
    }

    private static void seal(byte[] bytes, int length, Gid source, Gid destination) {
        int crc = new Icrc().compute(source, destination, Path.UDP_PORT, Path.UDP_PORT, 0,
                ByteBuffer.wrap(bytes), 0, length);
        MemorySegment.ofArray(bytes).set(Layouts.U32_LITTLE, length, crc);
    }

    private byte[] validWrite() {
        OutgoingPacket packet = pair.a.forge(Opcode.RC_WRITE_ONLY, Pair.FIRST_PSN)
                .rdma(pair.b.region.address(), pair.b.region.rkey(), 100);
        packet.addPayload(pair.a.memory, 0, 100);
        return bytes(packet, packet.path().source());
    }

    @Test
    void randomBytesAreDropped() {
        Random random = new Random(3);
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            receive(bytes);
        }
        // One in 65,536 has an ICRC that some Identification explains; it goes no further either.
        assertThat(count(Counter.DROPPED_TOO_SHORT) + count(Counter.DROPPED_UNKNOWN_OPCODE)
                + count(Counter.DROPPED_BAD_VERSION) + count(Counter.DROPPED_UNEXPECTED_PAYLOAD)
                + count(Counter.DROPPED_BAD_ICRC))
                .isGreaterThan(1990);
    }

    @Test
    void truncatedPacketsAreDropped() {
        byte[] whole = validWrite();
        int sent = 0;
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            if (!hasRightIcrc(cut)) {
                receive(cut);
                sent++;
            }
        }
        assertThat(count(Counter.DROPPED_TOO_SHORT) + count(Counter.DROPPED_BAD_ICRC))
                .isEqualTo(sent);
        assertThat(sent).isGreaterThan(whole.length - 10);
    }

    /** {@return whether the last bytes are the ICRC of the others for some Identification} One in 65,536 is. */
    private boolean hasRightIcrc(byte[] bytes) {
        return new Icrc().identify(pair.a.node.nic.gids().get(1), pair.b.node.nic.gids().get(1),
                Path.UDP_PORT, 0, ByteBuffer.wrap(bytes), 0, bytes.length) >= 0;
    }

    @Test
    void packetsTooShortForTheirHeadersAreDroppedThoughTheIcrcIsRight() {
        byte[] cut = Arrays.copyOf(validWrite(), 24);
        seal(cut, 20, pair.a.node.nic.gids().get(1), pair.b.node.nic.gids().get(1));
        receive(cut);
        assertThat(count(Counter.DROPPED_TOO_SHORT)).isOne();
    }

    @Test
    void wrongIcrcIsDropped() {
        byte[] bytes = validWrite();
        bytes[40] ^= 1;
        receive(bytes);
        assertThat(count(Counter.DROPPED_BAD_ICRC)).isOne();
    }

    @Test
    void unknownQueuePairsAreDropped() {
        for (int number : new int[]{0, 2, 15, 0xffffff}) {
            byte[] bytes = validWrite();
            MemorySegment.ofArray(bytes).set(Layouts.U32, 4, number);
            seal(bytes, bytes.length - 4, pair.a.node.nic.gids().get(1),
                    pair.b.node.nic.gids().get(1));
            receive(bytes);
        }
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isEqualTo(4);
    }

    @Test
    void wrongPartitionIsDropped() {
        byte[] bytes = validWrite();
        MemorySegment.ofArray(bytes).set(Layouts.U16, 2, (short) 0x1234);
        seal(bytes, bytes.length - 4, pair.a.node.nic.gids().get(1),
                pair.b.node.nic.gids().get(1));
        receive(bytes);
        assertThat(count(Counter.DROPPED_BAD_PKEY)).isOne();
    }

    @Test
    void packetsOfAnotherServiceAreDropped() {
        OutgoingPacket packet = pair.a.forge(Opcode.UC_SEND_ONLY, Pair.FIRST_PSN);
        receive(bytes(packet, packet.path().source()));
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isOne();
    }

    @Test
    void packetsFromAStrangerAreDropped() {
        OutgoingPacket packet = pair.a.forge(Opcode.RC_WRITE_ONLY, Pair.FIRST_PSN)
                .rdma(pair.b.region.address(), pair.b.region.rkey(), 0);
        pair.simulation.network.inject(STRANGER, packet.path().destination(),
                bytes(packet, STRANGER));
        pair.settle();
        assertThat(count(Counter.DROPPED_WRONG_SOURCE)).isOne();
    }

    @Test
    void managementNonsenseIsDropped() {
        OutgoingPacket shortMad = new OutgoingPacket()
                .begin(Opcode.UD_SEND_ONLY, pair.a.pathToPeer(), 1, 0, false, false)
                .datagram(0x8001_0000, 1);
        shortMad.addPayload(pair.a.memory, 0, 100);
        receive(bytes(shortMad, shortMad.path().source()));
        OutgoingPacket wrongKey = new OutgoingPacket()
                .begin(Opcode.UD_SEND_ONLY, pair.a.pathToPeer(), 1, 0, false, false)
                .datagram(0x1111_1111, 1);
        wrongKey.addPayload(pair.a.memory, 0, 256);
        receive(bytes(wrongKey, wrongKey.path().source()));
        OutgoingPacket random = new OutgoingPacket()
                .begin(Opcode.UD_SEND_ONLY, pair.a.pathToPeer(), 1, 0, false, false)
                .datagram(0x8001_0000, 1);
        random.addPayload(pair.a.memory, 0, 256);
        receive(bytes(random, random.path().source()));
        assertThat(count(Counter.DROPPED_BAD_MAD)).isEqualTo(2);
        assertThat(count(Counter.DROPPED_BAD_QKEY)).isOne();
    }

    @Test
    void congestionNotificationsForNobodyOrOfAStrangerAreDropped() {
        OutgoingPacket packet = pair.a.forge(Opcode.CONGESTION_NOTIFICATION, 0);
        packet.addPayload(pair.a.memory, 0, 16);
        byte[] bytes = bytes(packet, packet.path().source());
        MemorySegment.ofArray(bytes).set(Layouts.U32, 4, 0xffffff);
        seal(bytes, bytes.length - 4, packet.path().source(), packet.path().destination());
        receive(bytes);
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isOne();
        pair.simulation.network.inject(STRANGER, packet.path().destination(),
                bytes(packet, STRANGER));
        pair.settle();
        assertThat(count(Counter.DROPPED_WRONG_SOURCE)).isOne();
        assertThat(count(Counter.RP_CNP_IGNORED)).isZero();
    }
}
