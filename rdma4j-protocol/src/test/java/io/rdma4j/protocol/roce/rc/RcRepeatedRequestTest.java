// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that come again, or before those in front of them. What was carried out is answered once more, and not carried
 * out once more; what waits to be answered is not answered twice. IBTA 9.7.5.1.1, 9.7.5.1.2.
 */
class RcRepeatedRequestTest {
    private static final int MTU = 1024;
    private static final String NOTHING = "-";

    private final RcPair pair = new RcPair(settings());
    private final RcEnd responder = pair.b;

    RcRepeatedRequestTest() {
        pair.a.isStopped = true;
    }

    private static RcPair.Settings settings() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        settings.readsServed = 2;
        return settings;
    }

    private OutgoingPacket read(int index, int length) {
        return pair.a.forge(Opcode.RC_READ_REQUEST, index).rdma(responder.address, responder.key,
                length);
    }

    private OutgoingPacket add(int index) {
        return pair.a.forge(Opcode.RC_FETCH_ADD, index).atomic(responder.address, responder.key, 5,
                0);
    }

    private OutgoingPacket write(int index) {
        return pair.a.forge(Opcode.RC_WRITE_ONLY, index, 100 + index).rdma(
                responder.address + RcEnd.UPPER, responder.key, 100 + index);
    }

    private String effects(OutgoingPacket... packets) {
        return Effects.of(responder, () -> {
            for (OutgoingPacket packet : packets) {
                pair.wire.arrive(responder, packet);
            }
        });
    }

    // ---------------------------------------------------------------- READs

    // [IBTA 9.7.5-4]
    @Test
    void repeatedReadMayAskForAPartOfTheFirst() {
        assertThat(effects(read(0, 3 * MTU)))
                .isEqualTo("READ_RESPONSE_FIRST 0 to READ_RESPONSE_LAST 2");
        assertThat(effects(read(1, 2 * MTU)))
                .isEqualTo("READ_RESPONSE_FIRST 1, READ_RESPONSE_LAST 2");
        assertThat(effects(read(1, MTU))).isEqualTo("READ_RESPONSE_ONLY 1");
    }

    /** An answer would take numbers that belong to requests which have not come yet. */
    @Test
    void repeatedReadThatReachesBeyondTheFirstIsNotAnswered() {
        assertThat(effects(read(0, MTU))).isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(effects(read(0, MTU + 1))).isEqualTo(NOTHING);
        assertThat(responder.expectedPsn()).isEqualTo(101);
        assertThat(effects(read(1, MTU))).isEqualTo("READ_RESPONSE_ONLY 1");
    }

    @Test
    void readThatComesAgainWhileItsAnswerWaitsIsAnsweredOnce() {
        assertThat(effects(read(0, 100), read(0, 100))).isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(responder.counted(Counter.DUPLICATE_REQUEST)).isOne();
    }

    @Test
    void partOfAReadThatWaitsIsAnsweredOnce() {
        assertThat(effects(read(0, 2 * MTU), read(1, MTU)))
                .isEqualTo("READ_RESPONSE_FIRST 0, READ_RESPONSE_LAST 1");
    }

    @Test
    void repeatedReadsBeyondTheRoomForThemAreIgnored() {
        effects(read(0, 100));
        effects(read(1, 100));
        effects(read(2, 100));
        effects(read(3, 100));
        effects(read(4, 100));
        assertThat(effects(read(0, 100), read(1, 100), read(2, 100), read(3, 100), read(4, 100)))
                .isEqualTo("READ_RESPONSE_ONLY 0 to READ_RESPONSE_ONLY 3");
    }

    /** The connection lives on, and the peer asks again once there is room. */
    @Test
    void newReadThatFindsTheRoomFullOfRepeatedOnesIsIgnored() {
        for (int i = 0; i < 4; i++) {
            effects(read(i, 100));
        }
        assertThat(effects(read(0, 100), read(1, 100), read(2, 100), read(3, 100), read(4, 100)))
                .isEqualTo("READ_RESPONSE_ONLY 0 to READ_RESPONSE_ONLY 3");
        assertThat(responder.expectedPsn()).isEqualTo(104);
        assertThat(effects(read(4, 100))).isEqualTo("READ_RESPONSE_ONLY 4");
    }

    @Test
    void repeatedReadNeedsTheRightOfTheQueuePairAgain() {
        effects(read(0, 0));
        responder.modify(new QueuePairAttributes().state(QueuePairState.RTS)
                .accessFlags(Set.of(AccessFlag.REMOTE_WRITE)));
        assertThat(effects(read(0, 0))).isEqualTo("NAK_REMOTE_ACCESS 0");
        assertThat(responder.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    /** It was allowed when it came again; before it could be answered its memory was deregistered. */
    @Test
    void repeatedReadWhoseMemoryGoesWhileItWaitsIsRefusedAndTheConnectionStays() {
        effects(read(0, 100));
        responder.isHeldUp = true;
        pair.wire.deliver(responder, read(0, 100));
        responder.regions.close(responder.key);
        responder.isHeldUp = false;
        assertThat(Effects.of(responder, responder::work)).isEqualTo("NAK_REMOTE_ACCESS 0");
        assertThat(Effects.of(responder, responder::work)).isEqualTo(NOTHING);
        assertThat(responder.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void firstRefusalOfARepeatedReadIsTheOneThatIsSent() {
        effects(read(0, 100));
        effects(read(1, 100));
        responder.regions.close(responder.key);
        assertThat(effects(read(1, 100), read(0, 100))).isEqualTo("NAK_REMOTE_ACCESS 1");
    }

    // ---------------------------------------------------------------- atomics and the like

    // [IBTA 9.4.5-3]
    @Test
    void repeatedAtomicGetsTheResultOfTheFirstTime() {
        long original = responder.word(0);
        assertThat(effects(add(0))).isEqualTo("writes, ATOMIC_ACKNOWLEDGE 0");
        assertThat(responder.word(0)).isEqualTo(original + 5);
        long[] answered = new long[1];
        pair.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                answered[0] = packet.originalValue();
            }
        });
        pair.wire.deliver(responder, add(0));
        assertThat(answered[0]).isEqualTo(original);
        assertThat(responder.word(0)).isEqualTo(original + 5);
    }

    @Test
    void atomicThatComesAgainWhileItsAnswerWaitsIsAnsweredOnce() {
        assertThat(effects(add(0), add(0))).isEqualTo("writes, ATOMIC_ACKNOWLEDGE 0");
    }

    /** A peer that keeps to what was agreed repeats no older one. */
    @Test
    void atomicWhoseResultIsNoLongerKeptIsNotAnswered() {
        effects(add(0));
        effects(add(1));
        effects(add(2));
        assertThat(effects(add(0))).isEqualTo(NOTHING);
        assertThat(effects(add(1))).isEqualTo("ATOMIC_ACKNOWLEDGE 1");
        assertThat(responder.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestWithoutAResultIsAnsweredAgain(boolean isWaiting) {
        OutgoingPacket word = pair.a.forge(Opcode.RC_ATOMIC_WRITE, 0, Long.BYTES)
                .rdma(responder.address, responder.key, Long.BYTES);
        if (isWaiting) {
            assertThat(effects(word, word)).isEqualTo("writes, READ_RESPONSE_ONLY 0");
        } else {
            assertThat(effects(word)).isEqualTo("writes, READ_RESPONSE_ONLY 0");
            assertThat(effects(word)).isEqualTo("READ_RESPONSE_ONLY 0");
        }
    }

    // ---------------------------------------------------------------- out of order

    @Test
    void packetsThatExchangeTheirPlacesAreNotToldToBeMissing() {
        assertThat(effects(write(1), write(0))).isEqualTo("writes, ACK 0");
    }

    @Test
    void gapBehindWhatHasArrivedIsToldAfterAnAcknowledgement() {
        assertThat(effects(write(0), write(2))).isEqualTo("writes, ACK 0, NAK_SEQUENCE 1");
    }

    // [IBTA 9.9.3-1]
    @Test
    void refusalIsNotTakenBackByWhatComesLater() {
        assertThat(effects(write(0).rdma(0, 0, 100), write(0)))
                .isEqualTo("dropped, NAK_REMOTE_ACCESS 0, !ACCESS_ERROR, >ERR");
    }

    @Test
    void packetsBehindOneThatFoundNoReceiveAreNotAskedFor() {
        assertThat(effects(pair.a.forge(Opcode.RC_SEND_ONLY, 0, 100))).isEqualTo("RNR_NAK 0");
        assertThat(effects(write(1))).isEqualTo(NOTHING);
        assertThat(effects(write(1))).isEqualTo(NOTHING);
    }

    @Test
    void receiveThatIsToldOfButNotThereIsNotAnnounced() {
        assertThat(effects(pair.a.forge(Opcode.RC_SEND_ONLY, 0, 100))).isEqualTo("RNR_NAK 0");
        assertThat(Effects.of(responder,
                () -> responder.queuePair.onReceivePosted(pair.wire.nowNs()))).isEqualTo(NOTHING);
        assertThat(responder.queuePair.wantsReceiveDoorbell()).isTrue();
    }

    // ---------------------------------------------------------------- answers that wait

    private enum Word {
        FETCH_ADD, ATOMIC_WRITE, FLUSH;

        OutgoingPacket packet(RcRepeatedRequestTest test, int index) {
            RcEnd to = test.responder;
            OutgoingPacket packet = test.pair.a.forge(Opcode.valueOf("RC_" + name()), index);
            return switch (this) {
                case FETCH_ADD -> packet.atomic(to.address, to.key, 5, 0);
                case ATOMIC_WRITE -> {
                    packet.rdma(to.address, to.key, Long.BYTES)
                            .addPayload(test.pair.a.memory, 0, Long.BYTES);
                    yield packet;
                }
                case FLUSH -> packet.flush(FlushPlacement.GLOBAL.bit()).rdma(to.address, to.key, 8);
            };
        }
    }

    /** It would not be carried out a second time, so it is not carried out before it can be answered. */
    @Test
    void requestThatFindsTheRoomFullOfRepeatedOnesIsNotCarriedOut() {
        for (int i = 0; i < 4; i++) {
            effects(read(i, 100));
        }
        for (Word word : Word.values()) {
            long before = responder.word(0);
            assertThat(effects(read(0, 100), read(1, 100), read(2, 100), read(3, 100),
                    word.packet(this, 4)))
                    .isEqualTo("READ_RESPONSE_ONLY 0 to READ_RESPONSE_ONLY 3");
            assertThat(responder.word(0)).isEqualTo(before);
            assertThat(responder.expectedPsn()).isEqualTo(104);
        }
    }

    /** One packet says both. */
    // [IBTA 9.7.5-2]
    @Test
    void answerAcknowledgesWhatCameBefore() {
        assertThat(effects(write(0), add(1))).isEqualTo("writes, ATOMIC_ACKNOWLEDGE 1");
        assertThat(effects(write(2), read(3, 100))).isEqualTo("writes, READ_RESPONSE_ONLY 3");
        assertThat(effects(write(4), Word.ATOMIC_WRITE.packet(this, 5)))
                .isEqualTo("writes, READ_RESPONSE_ONLY 5");
    }

    @Test
    void acknowledgementThatStandsBehindAnswersIsCountedOnce() {
        assertThat(effects(read(0, 2 * MTU), write(2)))
                .isEqualTo("writes, READ_RESPONSE_FIRST 0 to ACK 2");
        assertThat(responder.counted(Counter.ACK_DEFERRED)).isOne();
        effects(read(3, 100));
        assertThat(responder.counted(Counter.ACK_DEFERRED)).isOne();
        effects(read(4, 100), write(5));
        assertThat(responder.counted(Counter.ACK_DEFERRED)).isEqualTo(2);
    }

    @Test
    void queuePairThatIsToldToFailAnswersNothingMore() {
        responder.isHeldUp = true;
        pair.wire.deliver(responder, read(0, 100));
        pair.wire.deliver(responder, write(1));
        responder.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        responder.isHeldUp = false;
        assertThat(Effects.of(responder, responder::work)).isEqualTo(NOTHING);
    }
}
