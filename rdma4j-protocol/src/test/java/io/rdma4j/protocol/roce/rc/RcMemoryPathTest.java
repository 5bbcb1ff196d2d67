// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Piggyback;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ends on one machine: a packet stands for several, its payload is the sender's own memory until it has been copied, and
 * either side's memory may go at any time.
 */
class RcMemoryPathTest {
    private static final int MTU = 1024;
    private static final int KEY = 3;

    private final RcPair pair = new RcPair(settings());
    private final RcEnd a = pair.a;
    private final RcEnd b = pair.b;
    private final OutgoingPacket packet = new OutgoingPacket();
    private final PacketView view = new PacketView();
    private final MemorySegment room = MemorySegment.ofArray(new byte[1 << 16]);
    /** What was sent, each as opcode, index of the first packet, and how many it stands for. */
    private final List<String> sent = new ArrayList<>();
    private Predicate<PacketView> isLost = seen -> false;
    /** Done once, between the moment in which a packet is built and that in which it is copied. */
    private Runnable meanwhile = () -> {};

    RcMemoryPathTest() {
        a.packetsAsOne = 4;
        b.packetsAsOne = 4;
        a.isLossless = true;
        b.isLossless = true;
    }

    private static RcPair.Settings settings() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        return settings;
    }

    /** Carries packets from memory to memory until there is none. */
    private void settle() {
        boolean hasSent = true;
        while (hasSent) {
            // Each answer may let more be sent.
            hasSent = carry(a, b);
            hasSent |= carry(b, a);
        }
    }

    private boolean carry(RcEnd from, RcEnd to) {
        boolean hasSent = false;
        while (from.queuePair.pollTransmit(packet, 0)) {
            hasSent = true;
            boolean isThere = view.wrap(packet, room);
            sent.add(view.opcode().name().substring("RC_".length()) + " " + from.index(view)
                    + (view.span() == 1 ? "" : " x" + view.span())
                    + (view.hasPiggyback() ? " +ACK" : ""));
            if (!isThere) {
                from.queuePair.onPayloadGone();
                continue;
            }
            if (isLost.test(view)) {
                continue;
            }
            meanwhile.run();
            meanwhile = () -> {};
            to.queuePair.onPacket(view, 0);
            if (view.isPayloadGone()) {
                from.queuePair.onPayloadGone();
            }
        }
        return hasSent;
    }

    /** Registers memory at address 0 of an end. {@return what closes it} */
    private Runnable registerBrief(RcEnd end) {
        Arena arena = Arena.ofShared();
        end.regions.register(KEY, 0, arena.allocate(8 * MTU, 8), EnumSet.allOf(AccessFlag.class));
        return arena::close;
    }

    // ---------------------------------------------------------------- several as one

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "100   | WRITE_ONLY 0", "1024  | WRITE_ONLY 0", "1025  | WRITE_ONLY 0 x2",
        "4096  | WRITE_ONLY 0 x4", "4097  | WRITE_FIRST 0 x4, WRITE_LAST 4",
        "10000 | WRITE_FIRST 0 x4, WRITE_MIDDLE 4 x4, WRITE_LAST 8 x2"})
    void messageGoesInAsFewPiecesAsTheMemoryTakes(int length, String packets) {
        a.write(1, length);
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.hasPeersBytes(length)).isTrue();
        assertThat(b.upperByte(length)).isZero();
        assertThat(String.join(", ", sent.subList(0, sent.size() - 1))).isEqualTo(packets);
        assertThat(sent.getLast()).isEqualTo("ACKNOWLEDGE " + ((length + MTU - 1) / MTU - 1));
        assertThat(b.expectedPsn()).isEqualTo(100 + (length + MTU - 1) / MTU);
    }

    @Test
    void sendFillsItsReceiveAndReadBringsItsBytes() {
        b.receive(7, 6000);
        a.send(1, 6000);
        settle();
        b.assertCompleted("7 SUCCESS");
        assertThat(b.hasPeersBytes(6000)).isTrue();
        sent.clear();
        a.read(2, 10_000);
        settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(a.hasPeersBytes(10_000)).isTrue();
        assertThat(sent).containsExactly("READ_REQUEST 6", "READ_RESPONSE_FIRST 6 x4",
                "READ_RESPONSE_MIDDLE 10 x4", "READ_RESPONSE_LAST 14 x2");
    }

    /** What goes as one lies in one piece; a packet that lies in two goes alone. */
    @Test
    void piecesOfAMessageGoByThemselves() {
        a.post(a.request(1).write(b.address + RcEnd.UPPER, b.key).add(a.address, 2500, a.key)
                .add(a.address + 2500, 3500, a.key));
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.hasPeersBytes(6000)).isTrue();
        assertThat(sent).containsExactly("WRITE_FIRST 0 x2", "WRITE_MIDDLE 2", "WRITE_LAST 3 x3",
                "ACKNOWLEDGE 5");
    }

    @Test
    void lengthOfAPacketHasToFitThePacketsItStandsFor() {
        for (int[] wrong : new int[][]{{2, MTU}, {2, 2 * MTU + 1}, {3, 2 * MTU}, {4, 1}}) {
            RcPair other = new RcPair(settings());
            PacketView forged = view(other, Opcode.RC_WRITE_ONLY, wrong[1], wrong[0]);
            other.b.queuePair.onPacket(forged, 0);
            assertThat(other.b.queuePair.state()).as("%d bytes as %d packets", wrong[1], wrong[0])
                    .isEqualTo(QueuePairState.ERR);
        }
        RcPair other = new RcPair(settings());
        other.b.queuePair.onPacket(view(other, Opcode.RC_WRITE_ONLY, MTU + 1, 2), 0);
        assertThat(other.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(other.b.expectedPsn()).isEqualTo(102);
    }

    private PacketView view(RcPair other, Opcode opcode, int length, int span) {
        OutgoingPacket forged = other.a.forge(opcode, 0, length).span(span);
        if (opcode.hasRdma()) {
            forged.rdma(other.b.address + RcEnd.UPPER, other.b.key, length);
        }
        assertThat(view.wrap(forged, room)).isTrue();
        return view;
    }

    @Test
    void whatIsSentAgainAndWhatIsNewDoNotGoAsOne() {
        isLost = seen -> seen.psn() == 100;
        a.write(1, 2 * MTU);
        settle();
        isLost = seen -> false;
        sent.clear();
        a.write(2, 100);
        settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(sent).containsExactly("WRITE_ONLY 2", "ACKNOWLEDGE 0", "WRITE_ONLY 0 x2",
                "WRITE_ONLY 2", "ACKNOWLEDGE 2");
    }

    // ---------------------------------------------------------------- acknowledgements that need no packet

    private void letPiggyback() {
        a.piggybacks = true;
        b.piggybacks = true;
    }

    /** The send has completed before the reply to it arrives, as always. */
    @Test
    void replyCarriesTheAcknowledgement() {
        letPiggyback();
        b.receive(7, 100);
        a.receive(8, 100);
        a.send(1, 100);
        carry(a, b);
        b.send(2, 100);
        settle();
        assertThat(sent).containsExactly("SEND_ONLY 0", "SEND_ONLY 0 +ACK", "ACKNOWLEDGE 0");
        a.assertCompleted("1 SUCCESS", "8 SUCCESS");
        b.assertCompleted("7 SUCCESS", "2 SUCCESS");
    }

    @Test
    void anAcknowledgementWithoutARequestIsAPacket() {
        letPiggyback();
        a.write(1, 100);
        settle();
        assertThat(sent).containsExactly("WRITE_ONLY 0", "ACKNOWLEDGE 0");
        a.assertCompleted("1 SUCCESS");
    }

    /** The credits of the acknowledgement count: a peer without receives is sent one message at a time. */
    @Test
    void itBringsCredits() {
        letPiggyback();
        b.receive(7, 100);
        a.send(1, 100);
        a.send(2, 100);
        a.send(3, 100);
        assertThat(a.queuePair.pollTransmit(packet, 0)).isTrue();
        assertThat(view.wrap(packet, room)).isTrue();
        b.queuePair.onPacket(view, 0);
        while (a.queuePair.pollTransmit(packet, 0)) {
            // Lost: what was sent before the credits were known.
        }
        b.write(9, 100);
        carry(b, a);
        assertThat(sent).contains("WRITE_ONLY 0 +ACK");
        a.assertCompleted("1 SUCCESS");
        a.send(4, 100);
        assertThat(carry(a, b)).isTrue();
        assertThat(sent.getLast()).isEqualTo("ACKNOWLEDGE 0");
    }

    /** Whatever else the responder has to say comes first, in packets of its own. */
    @Test
    void responsesAndNaksGoAlone() {
        letPiggyback();
        isLost = seen -> seen.psn() == 100 && seen.opcode() == Opcode.RC_WRITE_ONLY;
        a.write(1, 100);
        a.write(2, 100);
        carry(a, b);
        isLost = seen -> false;
        b.write(3, 100);
        settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        b.assertCompleted("3 SUCCESS");
        assertThat(sent.subList(0, 4)).containsExactly("WRITE_ONLY 0", "WRITE_ONLY 1",
                "ACKNOWLEDGE 0", "WRITE_ONLY 0");
        sent.clear();
        a.read(4, 100);
        carry(a, b);
        b.write(5, 100);
        settle();
        assertThat(sent.subList(0, 2)).containsExactly("READ_REQUEST 2", "READ_RESPONSE_ONLY 2");
        a.assertCompleted("4 SUCCESS");
        b.assertCompleted("5 SUCCESS");
    }

    /** A gap is told before anything else is sent. */
    @Test
    void acknowledgementBeforeAGapGoesWithTheNak() {
        letPiggyback();
        isLost = seen -> seen.psn() == 101;
        a.write(1, 100);
        a.write(2, 100);
        a.write(3, 100);
        carry(a, b);
        isLost = seen -> false;
        b.write(4, 100);
        settle();
        assertThat(sent.subList(3, 6)).containsExactly("ACKNOWLEDGE 0", "ACKNOWLEDGE 1",
                "WRITE_ONLY 0");
        a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        b.assertCompleted("4 SUCCESS");
    }

    @ParameterizedTest
    @EnumSource(Request.class)
    void acknowledgementOutlivesTheRequestThatWouldHaveCarriedIt(Request request) {
        letPiggyback();
        b.receive(7, 100);
        a.receive(8, 4000);
        a.send(1, 100);
        carry(a, b);
        Runnable close = registerBrief(b);
        b.post(request.of(b));
        assertThat(b.queuePair.pollTransmit(packet, 0)).isTrue();
        assertThat(packet.hasPiggyback()).isTrue();
        close.run();
        assertThat(view.wrap(packet, room)).isFalse();
        b.queuePair.onPayloadGone();
        settle();
        a.assertCompleted("1 SUCCESS");
        b.assertCompleted("7 SUCCESS", "1 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void acknowledgementGoesAlsoIfTheNextRequestFailsHere() {
        letPiggyback();
        a.write(1, 100);
        carry(a, b);
        b.post(b.request(2).send().add(0, 100, KEY));
        settle();
        assertThat(sent).containsExactly("WRITE_ONLY 0", "ACKNOWLEDGE 0");
        a.assertCompleted("1 SUCCESS");
        b.assertCompleted("2 LOCAL_PROTECTION_ERROR");
    }

    /** What lies in shared memory is another process's word. */
    @Test
    void acknowledgementOfWhatWasNotSentIsNone() {
        OutgoingPacket forged = a.forge(Opcode.RC_SEND_ONLY, 0, 10).piggyback(500, 0x1f, 1);
        b.receive(7, 100);
        assertThat(view.wrap(forged, room)).isTrue();
        b.queuePair.onPacket(view, 0);
        assertThat(b.counted(Counter.DROPPED_GHOST_ACK)).isEqualTo(1);
        b.assertCompleted("7 SUCCESS");
    }

    @Test
    void wordOfAPiggybackSaysWhatWasPutIntoIt() {
        OutgoingPacket forged = a.forge(Opcode.RC_SEND_ONLY, 0, 10)
                .piggyback(0x7_0000_00feL, 0xe5, 0x3_00ff_ff80L);
        assertThat(forged.piggyback()).isEqualTo(0x00ff_ff80_e500_00feL);
        assertThat(Piggyback.psn(forged.piggyback())).isEqualTo(0xfe);
        assertThat(Piggyback.syndrome(forged.piggyback())).isEqualTo(0xe5);
        assertThat(Piggyback.messageNumber(forged.piggyback())).isEqualTo(0xff_ff80);
    }

    // ---------------------------------------------------------------- memory that goes meanwhile

    enum Request {
        SEND, WRITE, ATOMIC_WRITE;

        SendWorkRequest of(RcEnd end) {
            SendWorkRequest request = end.request(1);
            switch (this) {
                case SEND -> request.send();
                case WRITE -> request.write(end.peer().address + RcEnd.UPPER, end.peer().key);
                case ATOMIC_WRITE -> request.atomicWrite(end.peer().address + RcEnd.UPPER,
                        end.peer().key);
            }
            return request.add(0, this == ATOMIC_WRITE ? Long.BYTES : 2000, KEY);
        }
    }

    @ParameterizedTest
    @EnumSource(Request.class)
    void requestWhoseMemoryGoesBeforeItIsCopiedFailsAndThePeerKnowsNothing(Request request) {
        b.receive(7, 4000);
        a.write(0, 100);
        settle();
        meanwhile = registerBrief(a);
        a.post(request.of(a));
        a.write(2, 100);
        settle();
        a.assertCompleted("0 SUCCESS", "1 LOCAL_PROTECTION_ERROR", "2 WORK_REQUEST_FLUSHED");
        // It is known at once, and not only when it is to be sent again.
        assertThat(sent).hasSize(3).last().asString().contains(" 1");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(b.events).isEmpty();
        assertThat(b.completions).isEmpty();
        assertThat(b.expectedPsn()).isEqualTo(101);
    }

    @Test
    void receiveThatWasTakenForAPacketWithoutBytesIsTakenByTheNext() {
        b.receive(7, 4000);
        Runnable close = registerBrief(a);
        a.post(Request.SEND.of(a));
        meanwhile = close;
        settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
        // The same packet again, from a peer that lives.
        b.queuePair.onPacket(view(pair, Opcode.RC_SEND_ONLY, 50, 1), 0);
        b.assertCompleted("7 SUCCESS");
    }

    @Test
    void readWhoseMemoryGoesBeforeItsAnswerIsCopiedIsRefused() {
        Runnable close = registerBrief(b);
        a.post(a.request(1).read(0, KEY).add(a.address + RcEnd.UPPER, 2000, a.key));
        assertThat(carry(a, b)).isTrue();
        meanwhile = close;
        settle();
        a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"RC_COMPARE_SWAP", "RC_FETCH_ADD",
        "RC_ATOMIC_WRITE", "RC_WRITE_ONLY"})
    void accessToMemoryWhoseArenaIsClosedIsRefused(Opcode opcode) {
        registerBrief(b).run();
        OutgoingPacket forged = a.forge(opcode, 0);
        if (opcode.hasAtomic()) {
            forged.atomic(0, KEY, 1, 2);
        } else {
            forged.rdma(0, KEY, Long.BYTES).addPayload(a.memory, 0, Long.BYTES);
        }
        assertThat(Effects.of(b, () -> pair.wire.deliver(b, forged)))
                .isEqualTo("NAK_REMOTE_ACCESS 0, !ACCESS_ERROR, >ERR");
    }
}
