// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What two sides agree on before the first unit. */
class MpaTest {
    private static final MpaSettings PLAIN = new MpaSettings(false, false, 128);
    private static final MpaSettings WITH_CRC = new MpaSettings(true, true, 128);
    private static final byte[] HELLO = {1, 2, 3};
    private static final byte[] WORLD = {4, 5};

    private static ConnectionParameters reads(int served, int asked) {
        return new ConnectionParameters().responderResources(served).initiatorDepth(asked);
    }

    private static MpaResponder asked(MpaSettings settings, MpaInitiator by) {
        return new MpaResponder(settings, by.request());
    }

    private static MpaAnswer.Accepted accepted(MpaInitiator by, MpaResponder responder,
            ConnectionParameters own) {
        MpaFrame reply = responder.acceptance(responder.parameters(own), own.privateData());
        assertThat(by.onReply(reply)).isInstanceOf(MpaAnswer.Accepted.class);
        return (MpaAnswer.Accepted) by.onReply(reply);
    }

    // ---------------------------------------------------------------- READs at once

    // [RFC 6581 9.1-1] [RFC 6581 9.1-2]
    @ParameterizedTest
    @CsvSource({
        // served, asked by the initiator; served, asked by the responder; what each asks for in the end
        "4, 4, 4, 4, 4, 4", "1, 8, 8, 1, 8, 1", "8, 1, 1, 8, 1, 8", "0, 0, 0, 0, 0, 0",
        "255, 255, 255, 255, 128, 128",
        // The responder serves what it is asked for, and asks for no more than it is offered.
        "2, 16, 3, 9, 16, 2",
        // The initiator asks for no more than the application wants.
        "4, 2, 64, 1, 2, 1"})
    void eachAsksForNoMoreThanTheOtherServes(int served, int asked, int otherServed, int otherAsked,
            int there, int back) {
        MpaInitiator initiator = new MpaInitiator(PLAIN, reads(served, asked));
        MpaResponder responder = asked(PLAIN, initiator);
        ConnectionParameters own = reads(otherServed, otherAsked);
        StreamParameters atResponder = responder.parameters(own);
        StreamParameters atInitiator = accepted(initiator, responder, own).parameters();
        assertThat(atInitiator.outboundReads()).isEqualTo(there);
        assertThat(atResponder.outboundReads()).isEqualTo(back);
        assertThat(atResponder.inboundReads()).isGreaterThanOrEqualTo(there);
        assertThat(atInitiator.inboundReads()).isGreaterThanOrEqualTo(back);
    }

    // [RFC 6581 9.1-3]
    @Test
    void whoIsAskedLearnsWhatIsOffered() {
        MpaInitiator initiator = new MpaInitiator(PLAIN, reads(3, 9).privateData(HELLO));
        MpaResponder responder = asked(PLAIN, initiator);
        assertThat(responder.outboundReads()).isEqualTo(3);
        assertThat(responder.inboundReads()).isEqualTo(9);
        assertThat(responder.privateData()).isEqualTo(HELLO);
        assertThat(responder.refusal()).isNull();
    }

    @Test
    void whoSendsFirstMayHaveToDoSoByARead() {
        MpaInitiator initiator = new MpaInitiator(MpaSettings.USUAL, reads(0, 0));
        assertThat(initiator.request().outboundReadCount()).isEqualTo(1);
    }

    // [RFC 6581 9.1-2]
    @Test
    void peerThatInsistsOnMoreReadsThanCanBeServedIsToldSo() {
        MpaInitiator initiator = new MpaInitiator(PLAIN, reads(4, 4));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2, 4, 129, HELLO);
        assertThat(initiator.onReply(reply)).isEqualTo(new MpaAnswer.Unusable(
                TerminateCause.INSUFFICIENT_READS,
                "the peer asks for 129 READs at once, this side serves 128"));
    }

    // [RFC 6581 9.1-5]
    @Test
    void peerThatDoesNotNegotiateLeavesTheNumbersAsTheyAre() {
        MpaInitiator initiator = new MpaInitiator(PLAIN, reads(4, 5));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2, MpaFrame.UNLIMITED,
                MpaFrame.UNLIMITED, HELLO);
        assertThat(initiator.onReply(reply)).isInstanceOfSatisfying(MpaAnswer.Accepted.class,
                answer -> {
                    assertThat(answer.parameters().inboundReads()).isEqualTo(4);
                    assertThat(answer.parameters().outboundReads()).isEqualTo(5);
                });
    }

    // ---------------------------------------------------------------- revisions

    // [RFC 6581 6-2] [RFC 6581 10-1]
    @Test
    void firstRevisionCarriesPrivateDataAlone() {
        MpaResponder responder = new MpaResponder(PLAIN, new MpaFrame(false, 0, 1, 0, 0, HELLO));
        StreamParameters agreed = responder.parameters(reads(4, 5));
        MpaFrame reply = responder.acceptance(agreed, WORLD);
        assertThat(reply.revision()).isEqualTo(1);
        assertThat(reply.bytes()).hasSize(MpaFrame.HEADER_LENGTH + WORLD.length);
        assertThat(agreed.inboundReads()).isEqualTo(4);
        assertThat(new MpaInitiator(PLAIN, reads(4, 5)).onReply(reply))
                .isInstanceOfSatisfying(MpaAnswer.Accepted.class, answer -> {
                    assertThat(answer.privateData()).isEqualTo(WORLD);
                    assertThat(answer.parameters().outboundReads()).isEqualTo(5);
                });
    }

    // [RFC 5044 7.1.1-4]
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 255})
    void otherRevisionsAreNotKnown(int revision) {
        MpaFrame request = new MpaFrame(false, MpaFrame.ENHANCED, revision, 0, 0, HELLO);
        assertThat(MpaResponder.isKnown(request)).isFalse();
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, revision, 0, 0, HELLO);
        assertThat(new MpaInitiator(PLAIN, reads(1, 1)).onReply(reply)).isEqualTo(
                new MpaAnswer.Unusable(TerminateCause.INVALID_FRAME, "the peer speaks revision "
                        + revision + " of MPA, this side 1 and 2"));
    }

    /** A rejection of another revision is one that this side cannot read. */
    @Test
    void rejectionOfAnUnknownRevisionIsNoRejection() {
        MpaFrame reply = new MpaFrame(true, MpaFrame.REJECT, 0, 0, 0, HELLO);
        assertThat(new MpaInitiator(PLAIN, reads(1, 1)).onReply(reply))
                .isInstanceOf(MpaAnswer.Unusable.class);
    }

    // ---------------------------------------------------------------- CRC, markers

    // [RFC 5044 7.1.1-2]
    @ParameterizedTest
    @CsvSource({"false, false, false", "true, false, true", "false, true, true",
        "true, true, true"})
    void crcIsUsedIfEitherSideWantsIt(boolean here, boolean there, boolean expected) {
        MpaInitiator initiator = new MpaInitiator(new MpaSettings(here, true, 8), reads(1, 1));
        MpaResponder responder = asked(new MpaSettings(there, true, 8), initiator);
        assertThat(accepted(initiator, responder, reads(1, 1)).parameters().hasCrc())
                .isEqualTo(expected);
        assertThat(responder.parameters(reads(1, 1)).hasCrc()).isEqualTo(expected);
    }

    // [RFC 5044 7.1.1-2]
    @Test
    void peerThatDeniesTheCrcIsNotAccepted() {
        MpaInitiator initiator = new MpaInitiator(WITH_CRC, reads(1, 1));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2, 1, 1, HELLO);
        assertThat(initiator.onReply(reply)).isInstanceOf(MpaAnswer.Unusable.class);
    }

    @Test
    void markersAreRefusedOnBothSides() {
        MpaResponder responder = new MpaResponder(PLAIN, new MpaFrame(false,
                MpaFrame.ENHANCED | MpaFrame.MARKERS, 2, 1, 1, HELLO));
        assertThat(responder.refusal()).satisfies(reply -> {
            assertThat(reply.has(MpaFrame.REJECT)).isTrue();
            assertThat(reply.privateData()).isEmpty();
        });
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED | MpaFrame.MARKERS, 2, 1, 1, HELLO);
        assertThat(new MpaInitiator(PLAIN, reads(1, 1)).onReply(reply))
                .isEqualTo(new MpaAnswer.Unusable(null, "the peer wants markers in the stream"));
    }

    // ---------------------------------------------------------------- who sends first

    @Test
    void initiatorSendsFirstByAWriteIfTheResponderMayChoose() {
        MpaInitiator initiator = new MpaInitiator(MpaSettings.USUAL, reads(1, 1));
        MpaResponder responder = asked(MpaSettings.USUAL, initiator);
        assertThat(responder.parameters(reads(1, 1)).readyToReceive())
                .isEqualTo(ReadyToReceive.WRITE);
        assertThat(accepted(initiator, responder, reads(1, 1)).parameters().readyToReceive())
                .isEqualTo(ReadyToReceive.WRITE);
    }

    // [RFC 6581 9.2-2]
    @ParameterizedTest
    @CsvSource({"0x8000, WRITE", "0x4000, READ", "0xc000, WRITE", "0, WRITE"})
    void responderChoosesAsSiwDoes(String offered, ReadyToReceive expected) {
        MpaResponder responder = new MpaResponder(PLAIN, new MpaFrame(false, MpaFrame.ENHANCED, 2,
                MpaFrame.PEER_TO_PEER | 1, Integer.decode(offered) | 1, HELLO));
        assertThat(responder.parameters(reads(1, 1)).readyToReceive()).isEqualTo(expected);
    }

    // [RFC 6581 9.2-3]
    @Test
    void readIsWhatTheInitiatorSendsFirstIfTheResponderSaysSo() {
        MpaInitiator initiator = new MpaInitiator(MpaSettings.USUAL, reads(1, 1));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2, MpaFrame.PEER_TO_PEER | 1,
                MpaFrame.READ_RTR | 1, HELLO);
        assertThat(initiator.onReply(reply)).isInstanceOfSatisfying(MpaAnswer.Accepted.class,
                answer -> assertThat(answer.parameters().readyToReceive())
                        .isEqualTo(ReadyToReceive.READ));
    }

    // [RFC 6581 9.2-3]
    @Test
    void responderThatKnowsOnlyWhatTheInitiatorDoesNotIsToldSo() {
        MpaInitiator initiator = new MpaInitiator(MpaSettings.USUAL, reads(1, 1));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2,
                MpaFrame.PEER_TO_PEER | MpaFrame.SEND_RTR | 1, 1, HELLO);
        assertThat(initiator.onReply(reply)).isInstanceOfSatisfying(MpaAnswer.Unusable.class,
                answer -> assertThat(answer.cause()).isEqualTo(TerminateCause.NO_MATCHING_RTR));
    }

    // ---------------------------------------------------------------- no

    @Test
    void rejectionCarriesPrivateData() {
        MpaInitiator initiator = new MpaInitiator(MpaSettings.USUAL, reads(1, 1));
        MpaFrame reply = asked(MpaSettings.USUAL, initiator).rejection(WORLD);
        assertThat(reply).isNotNull();
        assertThat(initiator.onReply(reply)).isInstanceOfSatisfying(MpaAnswer.Rejected.class,
                answer -> assertThat(answer.privateData()).isEqualTo(WORLD));
    }

    @Test
    void requestThatRejectsIsRejected() {
        MpaResponder responder = new MpaResponder(PLAIN,
                new MpaFrame(false, MpaFrame.ENHANCED | MpaFrame.REJECT, 2, 1, 1, HELLO));
        assertThat(responder.refusal()).satisfies(reply -> {
            assertThat(reply.has(MpaFrame.REJECT)).isTrue();
            assertThat(reply.privateData()).isEmpty();
        });
    }

    // ---------------------------------------------------------------- what is not asked for

    private static final MpaSettings NO_PEER_TO_PEER = new MpaSettings(false, false, 8);

    // [RFC 6581 9.2-4]
    @Test
    void initiatorThatDoesNotSendFirstDoesNotOfferIt() {
        MpaFrame request = new MpaInitiator(NO_PEER_TO_PEER, reads(3, 0)).request();
        assertThat(request.isPeerToPeer()).isFalse();
        assertThat(request.inboundReads()).isEqualTo(3);
        assertThat(request.outboundReads()).isZero();
        assertThat(new MpaResponder(NO_PEER_TO_PEER, request).parameters(reads(1, 1))
                .readyToReceive()).isEqualTo(ReadyToReceive.NONE);
    }

    // [RFC 6581 9.2-1]
    @Test
    void initiatorThatSendsFirstOffersAWriteAndARead() {
        MpaFrame request = new MpaInitiator(MpaSettings.USUAL, reads(3, 4)).request();
        assertThat(request.inboundReads()).isEqualTo(MpaFrame.PEER_TO_PEER | 3);
        assertThat(request.outboundReads())
                .isEqualTo(MpaFrame.WRITE_RTR | MpaFrame.READ_RTR | 4);
    }

    /** A peer that grants what nobody has asked for. */
    @Test
    void whatWasNotOfferedIsNotDoneThoughThePeerGrantsIt() {
        MpaInitiator initiator = new MpaInitiator(NO_PEER_TO_PEER, reads(1, 1));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2, MpaFrame.PEER_TO_PEER | 1,
                MpaFrame.WRITE_RTR | 1, HELLO);
        assertThat(initiator.onReply(reply)).isInstanceOfSatisfying(MpaAnswer.Accepted.class,
                answer -> assertThat(answer.parameters().readyToReceive())
                        .isEqualTo(ReadyToReceive.NONE));
    }

    // [RFC 6581 9.2-4]
    @Test
    void peerThatDoesNotWaitToBeSentToFirstIsNot() {
        MpaInitiator initiator = new MpaInitiator(MpaSettings.USUAL, reads(1, 1));
        MpaFrame reply = new MpaFrame(true, MpaFrame.ENHANCED, 2, 1, MpaFrame.WRITE_RTR | 1,
                HELLO);
        assertThat(initiator.onReply(reply)).isInstanceOfSatisfying(MpaAnswer.Accepted.class,
                answer -> assertThat(answer.parameters().readyToReceive())
                        .isEqualTo(ReadyToReceive.NONE));
    }

    // [RFC 6581 9.2-2]
    @Test
    void replySaysHowTheInitiatorIsToSendFirst() {
        for (ReadyToReceive first : ReadyToReceive.values()) {
            MpaFrame reply = new MpaResponder(PLAIN,
                    new MpaFrame(false, MpaFrame.ENHANCED, 2, 1, 1, HELLO)).acceptance(
                            new StreamParameters(false, false, 5, 6, first), WORLD);
            int flag = first == ReadyToReceive.NONE ? 0 : MpaFrame.PEER_TO_PEER;
            int by = switch (first) {
                case NONE -> 0;
                case WRITE -> MpaFrame.WRITE_RTR;
                case READ -> MpaFrame.READ_RTR;
            };
            assertThat(reply.inboundReads()).isEqualTo(flag | 5);
            assertThat(reply.outboundReads()).isEqualTo(by | 6);
            assertThat(reply.flags()).isEqualTo(MpaFrame.ENHANCED);
        }
    }

    // [RFC 6581 9.1-4]
    @Test
    void peerThatWantsAnyNumberOfReadsServedGetsWhatTheApplicationServes() {
        MpaResponder responder = new MpaResponder(PLAIN, new MpaFrame(false, MpaFrame.ENHANCED, 2,
                MpaFrame.UNLIMITED, MpaFrame.UNLIMITED, HELLO));
        assertThat(responder.parameters(reads(2, 3)).inboundReads()).isEqualTo(2);
        assertThat(responder.parameters(reads(2, 3)).outboundReads()).isEqualTo(3);
    }

    // [RFC 6581 9.1-4]
    @ParameterizedTest
    @CsvSource({
        // what the request has of READs served and asked for; the same of the reply to one who serves 2 and asks for 3
        "0x3fff, 0x3fff, 0x3fff, 0x3fff", "5, 0x3fff, 0x3fff, 3", "0x3fff, 6, 6, 0x3fff",
        "5, 6, 6, 3"})
    void whoNegotiatesNoNumberGetsNone(String served, String asked, String repliedServed,
            String repliedAsked) {
        MpaResponder responder = new MpaResponder(PLAIN, new MpaFrame(false, MpaFrame.ENHANCED, 2,
                Integer.decode(served), Integer.decode(asked), HELLO));
        MpaFrame reply = responder.acceptance(responder.parameters(reads(2, 3)), WORLD);
        assertThat(reply.inboundReads()).isEqualTo(Integer.decode(repliedServed));
        assertThat(reply.outboundReads()).isEqualTo(Integer.decode(repliedAsked));
    }

    // [RFC 6581 6-2]
    @Test
    void knownRevisionsGoUpToTheEnhancedOne() {
        assertThat(MpaResponder.isKnown(new MpaFrame(false, MpaFrame.ENHANCED,
                MpaFrame.ENHANCED_REVISION, 0, 0, HELLO))).isTrue();
        assertThat(MpaResponder.isKnown(new MpaFrame(false, 0, 1, 0, 0, HELLO))).isTrue();
    }
}
