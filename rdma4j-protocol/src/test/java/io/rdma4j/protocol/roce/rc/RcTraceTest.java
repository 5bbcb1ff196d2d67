// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What two ends send each other, packet by packet, each behind its time in microseconds; a packet takes 20 µs. A line
 * with {@code >} is a packet, one with a colon is what an end reports or decides. Both ends know their round trip of 40 µs.
 */
class RcTraceTest {
    private static final int THREE_PACKETS = 2500;

    private final RcPair.Settings settings = new RcPair.Settings();

    RcTraceTest() {
        settings.firstPsn = 99;
        settings.timeout = 10;
        settings.retryCount = 2;
    }

    /**
     * {@return a pair that has exchanged one message each way, so that it is at PSN 100}
     *
     * @param receives the lengths of those that {@code b} has posted, and {@code a} knows of; the first has the id 7
     */
    private RcPair pair(int... receives) {
        RcPair pair = new RcPair(settings);
        for (int i = 0; i < receives.length; i++) {
            pair.b.receive(7 + i, receives[i]);
        }
        pair.a.write(0, 100);
        pair.b.write(0, 100);
        pair.settle();
        pair.a.assertCompleted("0 SUCCESS");
        pair.b.assertCompleted("0 SUCCESS");
        pair.wire.takeTrace();
        return pair;
    }

    private static void assertTrace(RcPair pair, String expected) {
        assertThat(pair.wire.takeTrace()).isEqualTo(expected);
    }

    // [IBTA 9.7.3-2] [IBTA 9.7.5-1]
    @Test
    void messageOfThreePackets() {
        RcPair pair = pair(THREE_PACKETS);
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100
                    40 a>b SEND_MIDDLE psn=101
                    40 a>b SEND_LAST psn=102 ackreq
                    60 b: 7 SUCCESS
                    60 b>a ACK psn=102 msn=2 credits=0
                    80 a: 1 SUCCESS
                """);
    }

    // [IBTA 9.7.7-1]
    @Test
    void withoutCreditOnePacketGoesAlone() {
        RcPair pair = pair();
        pair.b.receive(7, THREE_PACKETS);
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100 ackreq
                    60 b>a ACK psn=100 msn=1 credits=1
                    80 a>b SEND_MIDDLE psn=101
                    80 a>b SEND_LAST psn=102 ackreq
                   100 b: 7 SUCCESS
                   100 b>a ACK psn=102 msn=2 credits=0
                   120 a: 1 SUCCESS
                """);
    }

    @Test
    void lostMiddlePacketIsMissedAndSentAgainWithAllBehindIt() {
        RcPair pair = pair(THREE_PACKETS);
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_SEND_MIDDLE);
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100
                    40 a>b SEND_MIDDLE psn=101 LOST
                    40 a>b SEND_LAST psn=102 ackreq
                    60 b>a ACK psn=100 msn=1 credits=1
                    60 b>a NAK_SEQUENCE psn=101 msn=1
                    80 a: sends 101 again, SEQUENCE_NAK
                    80 a>b SEND_MIDDLE psn=101
                    80 a>b SEND_LAST psn=102 ackreq
                   100 b: 7 SUCCESS
                   100 b>a ACK psn=102 msn=2 credits=0
                   120 a: 1 SUCCESS
                """);
    }

    @Test
    void lostLastPacketIsSentAgainWhenItsAnswerIsOverdue() {
        RcPair pair = pair(THREE_PACKETS);
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_SEND_LAST);
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100
                    40 a>b SEND_MIDDLE psn=101
                    40 a>b SEND_LAST psn=102 ackreq LOST
                   540 a: sends 102 again, PROBE
                   540 a>b SEND_LAST psn=102 ackreq
                   560 b: 7 SUCCESS
                   560 b>a ACK psn=102 msn=2 credits=0
                   580 a: 1 SUCCESS
                """);
    }

    @Test
    void lostAcknowledgementIsGivenAgainForTheRepeatedLastPacket() {
        RcPair pair = pair(THREE_PACKETS);
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_ACKNOWLEDGE);
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100
                    40 a>b SEND_MIDDLE psn=101
                    40 a>b SEND_LAST psn=102 ackreq
                    60 b: 7 SUCCESS
                    60 b>a ACK psn=102 msn=2 credits=0 LOST
                   540 a: sends 102 again, PROBE
                   540 a>b SEND_LAST psn=102 ackreq
                   560 b>a ACK psn=102 msn=2 credits=0
                   580 a: 1 SUCCESS
                """);
    }

    // [IBTA 9.4.4-1]
    @Test
    void lostMiddleOfAReadResponseIsAskedForAgainFromThereOn() {
        RcPair pair = pair();
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_MIDDLE);
        pair.a.read(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b READ_REQUEST psn=100 length=2500 ackreq
                    60 b>a READ_RESPONSE_FIRST psn=100 msn=2 credits=0
                    60 b>a READ_RESPONSE_MIDDLE psn=101 LOST
                    60 b>a READ_RESPONSE_LAST psn=102 msn=2 credits=0
                    80 a: sends 101 again, IMPLIED_NAK
                    80 a>b READ_REQUEST psn=101 length=1476 ackreq
                   100 b>a READ_RESPONSE_FIRST psn=101 msn=2 credits=0
                   100 b>a READ_RESPONSE_LAST psn=102 msn=2 credits=0
                   120 a: 1 SUCCESS
                """);
    }

    @Test
    void lostLastOfAReadResponseIsAskedForAlone() {
        RcPair pair = pair();
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_LAST);
        pair.a.read(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b READ_REQUEST psn=100 length=2500 ackreq
                    60 b>a READ_RESPONSE_FIRST psn=100 msn=2 credits=0
                    60 b>a READ_RESPONSE_MIDDLE psn=101
                    60 b>a READ_RESPONSE_LAST psn=102 msn=2 credits=0 LOST
                   580 a: sends 102 again, PROBE
                   580 a>b READ_REQUEST psn=102 length=452 ackreq
                   600 b>a READ_RESPONSE_ONLY psn=102 msn=2 credits=0
                   620 a: 1 SUCCESS
                """);
    }

    /** One packet shows what else is missing; no other timer has to pass. */
    @Test
    void behindAPartOfAReadThatWasAskedForTheRestIsAskedForAtOnce() {
        RcPair pair = pair();
        pair.wire.loseIf(Wire.first(p -> p.opcode() == Opcode.RC_READ_RESPONSE_MIDDLE)
                .or(Wire.first(p -> p.opcode() == Opcode.RC_READ_RESPONSE_LAST)));
        pair.a.read(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b READ_REQUEST psn=100 length=2500 ackreq
                    60 b>a READ_RESPONSE_FIRST psn=100 msn=2 credits=0
                    60 b>a READ_RESPONSE_MIDDLE psn=101 LOST
                    60 b>a READ_RESPONSE_LAST psn=102 msn=2 credits=0 LOST
                   580 a: sends 101 again, PROBE
                   580 a>b READ_REQUEST psn=101 length=1024 ackreq
                   600 b>a READ_RESPONSE_ONLY psn=101 msn=2 credits=0
                   620 a: sends 102 again, IMPLIED_NAK
                   620 a>b READ_REQUEST psn=102 length=452 ackreq
                   640 b>a READ_RESPONSE_ONLY psn=102 msn=2 credits=0
                   660 a: 1 SUCCESS
                """);
    }

    // [IBTA 9.4.5-3]
    @Test
    void lostAnswerToAnAtomicIsGivenAgainWithoutAddingAgain() {
        RcPair pair = pair();
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_ATOMIC_ACKNOWLEDGE);
        pair.a.add(1, 5);
        pair.a.write(2, 100);
        pair.settle();
        assertTrace(pair, """
                    40 a>b FETCH_ADD psn=100 ackreq
                    40 a>b WRITE_ONLY psn=101 ackreq
                    60 b>a ATOMIC_ACKNOWLEDGE psn=100 msn=2 credits=0 LOST
                    60 b>a ACK psn=101 msn=3 credits=0
                    80 a: sends 100 again, IMPLIED_NAK
                    80 a>b FETCH_ADD psn=100 ackreq
                    80 a>b WRITE_ONLY psn=101 ackreq
                   100 b>a ATOMIC_ACKNOWLEDGE psn=100 msn=3 credits=0
                   100 b>a ACK psn=101 msn=3 credits=0
                   120 a: 1 SUCCESS
                   120 a: 2 SUCCESS
                """);
    }

    // [IBTA 9.7.5-5] [IBTA 9.7.6-3]
    @Test
    void receiverThatIsNotReadyIsAskedAgainAfterItsTimer() {
        RcPair pair = pair();
        pair.a.send(1, THREE_PACKETS);
        pair.run(300_000);
        // That it is posted is announced, but the announcement is lost.
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_ACKNOWLEDGE);
        pair.b.receive(7, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100 ackreq
                    60 b>a RNR_NAK psn=100 msn=1
                   340 b>a ACK psn=99 msn=1 credits=1 LOST
                   720 a>b SEND_FIRST psn=100 ackreq
                   740 b>a ACK psn=100 msn=1 credits=1
                   760 a>b SEND_MIDDLE psn=101
                   760 a>b SEND_LAST psn=102 ackreq
                   780 b: 7 SUCCESS
                   780 b>a ACK psn=102 msn=2 credits=0
                   800 a: 1 SUCCESS
                """);
    }

    @Test
    void receiveThatIsPostedMeanwhileIsAnnounced() {
        RcPair pair = pair();
        pair.a.send(1, THREE_PACKETS);
        pair.run(100_000);
        pair.b.receive(7, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100 ackreq
                    60 b>a RNR_NAK psn=100 msn=1
                   140 b>a ACK psn=99 msn=1 credits=1
                   160 a>b SEND_FIRST psn=100
                   160 a>b SEND_MIDDLE psn=101
                   160 a>b SEND_LAST psn=102 ackreq
                   180 b: 7 SUCCESS
                   180 b>a ACK psn=102 msn=2 credits=0
                   200 a: 1 SUCCESS
                """);
    }

    // [IBTA 9.5-1] [IBTA 9.7.5-3]
    @Test
    void packetThatIsOvertakenIsMissedOnceAndNotTakenTwice() {
        RcPair pair = pair(THREE_PACKETS);
        pair.wire.delayIf(30_000, Wire.first(packet -> packet.opcode() == Opcode.RC_SEND_MIDDLE));
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100
                    40 a>b SEND_MIDDLE psn=101 LATE
                    40 a>b SEND_LAST psn=102 ackreq
                    60 b>a ACK psn=100 msn=1 credits=1
                    60 b>a NAK_SEQUENCE psn=101 msn=1
                    80 a: sends 101 again, SEQUENCE_NAK
                    80 a>b SEND_MIDDLE psn=101
                    80 a>b SEND_LAST psn=102 ackreq
                   100 b: 7 SUCCESS
                   100 b>a ACK psn=102 msn=2 credits=0
                   120 a: 1 SUCCESS
                """);
    }

    // [IBTA 9.7.4-1]
    @Test
    void packetThatComesTwiceIsAcknowledgedOnce() {
        RcPair pair = pair(THREE_PACKETS);
        pair.wire.repeatIf(packet -> packet.opcode() == Opcode.RC_SEND_MIDDLE);
        pair.a.send(1, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_FIRST psn=100
                    40 a>b SEND_MIDDLE psn=101 TWICE
                    40 a>b SEND_LAST psn=102 ackreq
                    60 b: 7 SUCCESS
                    60 b>a ACK psn=102 msn=2 credits=0
                    80 a: 1 SUCCESS
                """);
    }

    // [IBTA 9.7.1-1]
    @Test
    void packetNumbersBeginAnewBehindTheLastOf24Bits() {
        settings.firstPsn = 0xfffffd;
        RcPair pair = pair();
        pair.wire.loseFirst(packet -> packet.psn() == 0);
        pair.a.write(1, THREE_PACKETS);
        pair.a.read(2, THREE_PACKETS);
        pair.settle();
        assertTrace(pair, """
                    40 a>b WRITE_FIRST psn=16777214
                    40 a>b WRITE_MIDDLE psn=16777215
                    40 a>b WRITE_LAST psn=0 ackreq LOST
                    40 a>b READ_REQUEST psn=1 length=2500 ackreq
                    60 b>a ACK psn=16777215 msn=1 credits=0
                    60 b>a NAK_SEQUENCE psn=0 msn=1
                    80 a: sends 0 again, SEQUENCE_NAK
                    80 a>b WRITE_LAST psn=0 ackreq
                    80 a>b READ_REQUEST psn=1 length=2500 ackreq
                   100 b>a READ_RESPONSE_FIRST psn=1 msn=3 credits=0
                   100 b>a READ_RESPONSE_MIDDLE psn=2
                   100 b>a READ_RESPONSE_LAST psn=3 msn=3 credits=0
                   120 a: 1 SUCCESS
                   120 a: 2 SUCCESS
                """);
    }

    @Test
    void peerThatNeverAnswersIsGivenUpAfterTheRetries() {
        RcPair pair = pair();
        pair.wire.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.a.write(2, 100);
        pair.settle();
        assertTrace(pair, """
                    40 a>b WRITE_ONLY psn=100 ackreq LOST
                    40 a>b WRITE_ONLY psn=101 ackreq LOST
                   540 a: sends 101 again, PROBE
                   540 a>b WRITE_ONLY psn=101 ackreq LOST
                  1540 a: sends 100 again, PROBE
                  1540 a>b WRITE_ONLY psn=100 ackreq LOST
                  3540 a: sends 101 again, PROBE
                  3540 a>b WRITE_ONLY psn=101 ackreq LOST
                  4234 a: sends 100 again, TIMEOUT
                  4234 a>b WRITE_ONLY psn=100 ackreq LOST
                  8428 a: sends 101 again, TIMEOUT
                  8428 a>b WRITE_ONLY psn=101 ackreq LOST
                 12134 a: sends 100 again, RTT_ESTIMATE
                 12134 a>b WRITE_ONLY psn=100 ackreq LOST
                 12622 a: ERR
                 12622 a: 1 RETRY_EXCEEDED_ERROR
                 12622 a: 2 WORK_REQUEST_FLUSHED
                """);
    }

    // [IBTA 9.9.2-1]
    @Test
    void refusedRequestEndsBothEndsAndFlushesWhatWaits() {
        RcPair pair = pair(100, 100, 100);
        pair.a.receive(9, 100);
        pair.a.send(1, 100);
        pair.a.send(2, 200);
        pair.a.send(3, 100);
        pair.settle();
        assertTrace(pair, """
                    40 a>b SEND_ONLY psn=100 ackreq
                    40 a>b SEND_ONLY psn=101 ackreq
                    40 a>b SEND_ONLY psn=102 ackreq
                    60 b: 7 SUCCESS
                    60 b: 8 LOCAL_LENGTH_ERROR
                    60 b: ERR
                    60 b: 9 WORK_REQUEST_FLUSHED
                    60 b>a NAK_INVALID_REQUEST psn=101 msn=2
                    80 a: 1 SUCCESS
                    80 a: ERR
                    80 a: 2 REMOTE_INVALID_REQUEST_ERROR
                    80 a: 3 WORK_REQUEST_FLUSHED
                    80 a: 9 WORK_REQUEST_FLUSHED
                """);
    }

    @Test
    void queuePairThatIsToldToFailFlushesInOrderAndSendsNothing() {
        RcPair pair = pair();
        pair.b.isStopped = true;
        pair.a.receive(8, 100);
        pair.a.receive(9, 100);
        pair.a.write(1, 100);
        pair.a.read(2, 100);
        pair.run(100_000);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        pair.a.write(3, 100);
        pair.a.receive(10, 100);
        pair.b.isStopped = false;
        pair.settle();
        assertTrace(pair, """
                    40 a>b WRITE_ONLY psn=100 ackreq
                    40 a>b READ_REQUEST psn=101 length=100 ackreq
                   140 a: 1 WORK_REQUEST_FLUSHED
                   140 a: 2 WORK_REQUEST_FLUSHED
                   140 a: 8 WORK_REQUEST_FLUSHED
                   140 a: 9 WORK_REQUEST_FLUSHED
                   140 a: 3 WORK_REQUEST_FLUSHED
                   140 a: 10 WORK_REQUEST_FLUSHED
                   140 b>a READ_RESPONSE_ONLY psn=101 msn=3 credits=0
                """);
    }

    // [IBTA 9.7.1-2] [IBTA 9.7.5-2]
    @Test
    void acknowledgementOfAllStandsBehindTheResponsesOfEarlierReads() {
        RcPair pair = pair(100);
        pair.a.write(1, 100);
        pair.a.read(2, THREE_PACKETS);
        pair.a.send(3, 100);
        pair.settle();
        assertTrace(pair, """
                    40 a>b WRITE_ONLY psn=100 ackreq
                    40 a>b READ_REQUEST psn=101 length=2500 ackreq
                    40 a>b SEND_ONLY psn=104 ackreq
                    60 b: 7 SUCCESS
                    60 b>a READ_RESPONSE_FIRST psn=101 msn=3 credits=0
                    60 b>a READ_RESPONSE_MIDDLE psn=102
                    60 b>a READ_RESPONSE_LAST psn=103 msn=3 credits=0
                    60 b>a ACK psn=104 msn=4 credits=0
                    80 a: 1 SUCCESS
                    80 a: 2 SUCCESS
                    80 a: 3 SUCCESS
                """);
    }
}
