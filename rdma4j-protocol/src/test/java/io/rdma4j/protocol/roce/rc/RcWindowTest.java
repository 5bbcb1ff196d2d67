// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.verbs.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** How much a requester sends before it has an answer, and where it asks for one. At first the window has 32 packets. */
class RcWindowTest {
    private static final int MTU = 256;
    private static final int WINDOW = 32;

    private final RcPair.Settings settings = new RcPair.Settings();
    private final List<PacketView> sent = new ArrayList<>();

    private RcPair pair() {
        settings.firstPsn = 100;
        settings.mtu = Mtu.MTU_256;
        RcPair pair = new RcPair(settings);
        pair.b.isStopped = true;
        pair.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                if (from == pair.a) {
                    sent.add(packet);
                }
            }
        });
        return pair;
    }

    private List<Integer> asking(RcPair pair) {
        return sent.stream().filter(PacketView::isAcknowledgeRequested).map(pair.a::index).toList();
    }

    /** Often enough that the window never stands still for want of an answer, and where it is full in any case. */
    @Test
    void longMessageFillsTheWindowAndAsksEachQuarter() {
        RcPair pair = pair();
        pair.a.write(1, 100 * MTU);
        pair.run(1);
        assertThat(sent).hasSize(WINDOW);
        assertThat(asking(pair)).containsExactly(8, 16, 24, 31);
        pair.b.isStopped = false;
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void messageThatEndsWithinTheWindowAsksAtItsEnd() {
        RcPair pair = pair();
        pair.a.write(1, 3 * MTU);
        pair.a.write(2, 2 * MTU);
        pair.run(1);
        assertThat(asking(pair)).containsExactly(2, 4);
    }

    /** Such a path holds up a sender that sends too much, and loses nothing. */
    @Test
    void onAPathThatLosesNothingTheWindowIsNoLimit() {
        RcPair pair = pair();
        pair.a.isLossless = true;
        pair.a.write(1, 100 * MTU);
        pair.run(1);
        assertThat(sent).hasSize(100);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        // how many may be outstanding, of which lengths in packets they are at first
        "1 | 32", "2 | 16, 16", "4 | 16, 16"})
    void longReadIsAskedForInPiecesThatFillTheWindow(int agreed, String packets) {
        settings.readAtomic = agreed;
        RcPair pair = pair();
        pair.a.read(1, 100 * MTU);
        pair.run(1);
        assertThat(String.join(", ",
                sent.stream().map(p -> Long.toString(p.dmaLength() / MTU)).toList()))
                .isEqualTo(packets);
    }

    /** Its answer would not fit into the window together with what is under way. */
    @Test
    void readWaitsUntilItsAnswerFitsTheWindow() {
        RcPair pair = pair();
        pair.a.write(1, 20 * MTU);
        pair.a.read(2, 13 * MTU);
        pair.run(1);
        assertThat(sent).hasSize(20);
        pair.a.write(3, 100);
        pair.run(1);
        assertThat(sent).hasSize(20);
    }

    @Test
    void readWhoseAnswerJustFitsTheWindowIsAskedFor() {
        RcPair pair = pair();
        pair.a.write(1, 20 * MTU);
        pair.a.read(2, 12 * MTU);
        pair.run(1);
        assertThat(sent).hasSize(21);
    }

    @ParameterizedTest
    @CsvSource({"0, LOCAL_QP_OPERATION_ERROR", "1, SUCCESS"})
    void atomicNeedsAPlaceAmongTheReads(int agreed, String outcome) {
        settings.readAtomic = agreed;
        RcPair pair = pair();
        pair.b.isStopped = false;
        pair.a.add(1, 5);
        pair.settle();
        pair.a.assertCompleted("1 " + outcome);
    }

    // [IBTA 9.7.3-1]
    @Test
    void atomicWaitsForAPlaceAmongTheReads() {
        settings.readAtomic = 1;
        RcPair pair = pair();
        pair.a.read(1, 100);
        pair.a.add(2, 5);
        pair.run(1);
        assertThat(sent).hasSize(1);
        pair.b.isStopped = false;
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
    }

    /** Acknowledgements may overtake each other: an older one takes nothing back. */
    @Test
    void creditsOnceGivenAreNotTakenBack() {
        RcPair pair = pair();
        pair.a.write(0, 10);
        pair.run(1);
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ack(3), 1));
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ack(1), 1));
        assertThat(Effects.of(pair.a, () -> {
            for (int id = 1; id < 6; id++) {
                pair.a.send(id, 100);
            }
        })).isEqualTo("SEND_ONLY 1 to SEND_ONLY 3");
    }

    /** The wait ends when a receive is announced, and not by any word of the peer. */
    @Test
    void waitForAReceiverEndsByAnAnnouncementAlone() {
        RcPair pair = pair();
        pair.a.write(0, 10);
        pair.run(1);
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ack(0), 1));
        pair.a.send(1, 100);
        pair.run(1);
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 1).acknowledgement(Syndrome.rnr(20), 1));
        assertThat(Effects.of(pair.a, () -> pair.wire.arrive(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ack(0), 1))))
                .isEqualTo("-");
        assertThat(Effects.of(pair.a, () -> pair.wire.arrive(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ack(1), 1))))
                .isEqualTo("SEND_ONLY 1");
    }

    /** A peer with a shared queue tells no numbers: it announces a receive by acknowledging nothing new. */
    @Test
    void announcementWithoutNumbersAcknowledgesNothingNew() {
        RcPair pair = pair();
        pair.a.write(0, 10);
        pair.a.send(1, 100);
        pair.run(1);
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 1).acknowledgement(Syndrome.rnr(20), 1));
        assertThat(Effects.of(pair.a, () -> pair.wire.arrive(pair.a, pair.b
                .forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ackUnlimited(), 1))))
                .isEqualTo("SEND_ONLY 1");
    }

    /** The network takes middle packets together, but none of another length or with another header. */
    @Test
    void middlePacketsGoTogetherAndTheOthersAlone() {
        RcPair pair = pair();
        pair.a.write(1, 20 * MTU);
        OutgoingPacket packet = new OutgoingPacket();
        List<String> packets = new ArrayList<>();
        while (pair.a.queuePair.pollTransmit(packet, 0)) {
            packets.add(packet.opcode().name().substring("RC_WRITE_".length()) + " x"
                    + packet.span());
        }
        assertThat(packets).containsExactly("FIRST x1", "MIDDLE x8", "MIDDLE x8", "MIDDLE x2",
                "LAST x1");
    }

    // ---------------------------------------------------------------- READs on the wire

    @Test
    void readsOnTheWireStayThereWhenTheirNumberChanges() {
        ReadChunks reads = new ReadChunks();
        reads.reset(3);
        for (int i = 0; i < 5; i++) {
            reads.add(10L * i, 10L * i + 5);
            reads.prune(10L * i - 10);
        }
        // Those from 30 and 40 on are left, across the end of the ring.
        reads.prune(25);
        assertThat(reads.isFull()).isFalse();
        for (int capacity : new int[]{1, 2, 5}) {
            reads.resize(capacity);
            assertThat(reads.isFull()).isEqualTo(capacity < 3);
            assertThat(reads.capacity()).isEqualTo(capacity);
            assertThat(reads.endOf(30)).isEqualTo(35);
            assertThat(reads.endOf(34)).isEqualTo(35);
            assertThat(reads.endOf(44)).isEqualTo(45);
            assertThat(reads.isBegun(40)).isFalse();
            assertThat(reads.isBegun(41)).isTrue();
            assertThatIllegalStateException().isThrownBy(() -> reads.endOf(35));
            assertThatIllegalStateException().isThrownBy(() -> reads.endOf(29));
        }
        reads.prune(35);
        assertThatIllegalStateException().isThrownBy(() -> reads.endOf(34));
        reads.prune(45);
        assertThat(reads.isEmpty()).isTrue();
    }
}
