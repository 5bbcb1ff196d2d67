// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What leaves first, a response that is due or the next request. The traces read as in {@link RcTraceTest}; the program of
 * {@code b} posts its request at once when a packet of {@code a} has arrived.
 */
class RcResponseOrderTest {
    private static final int THREE_PACKETS = 2500;

    private final RcPair pair;

    RcResponseOrderTest() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        pair = new RcPair(settings);
        pair.b.receive(7, 100);
        pair.b.receive(8, 100);
        pair.a.receive(9, THREE_PACKETS);
    }

    private void onFirst(Opcode opcode, Runnable post) {
        pair.wire.watch(new Wire.Watcher() {
            private boolean hasPosted;

            @Override
            public void onReceived(RcEnd to, PacketView packet) {
                if (to == pair.b && packet.opcode() == opcode && !hasPosted) {
                    hasPosted = true;
                    post.run();
                }
            }
        });
    }

    private void assertTrace(String expected) {
        pair.settle();
        assertThat(pair.wire.takeTrace()).isEqualTo(expected);
    }

    @Test
    void acknowledgementLeavesBeforeTheNextRequest() {
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, 100));
        pair.a.send(1, 100);
        assertTrace("""
                     0 a>b SEND_ONLY psn=100 ackreq
                    20 b: 7 SUCCESS
                    20 b>a ACK psn=100 msn=1 credits=1
                    20 b>a SEND_ONLY psn=100 ackreq
                    40 a: 1 SUCCESS
                    40 a: 9 SUCCESS
                    40 a>b ACK psn=100 msn=1 credits=0
                    60 b: 2 SUCCESS
                """);
    }

    @Test
    void negativeAcknowledgementLeavesBeforeTheNextRequest() {
        pair.wire.loseFirst(packet -> packet.psn() == 100);
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, 100));
        pair.a.write(1, 100);
        pair.a.send(3, 100);
        assertTrace("""
                     0 a>b WRITE_ONLY psn=100 ackreq LOST
                     0 a>b SEND_ONLY psn=101 ackreq
                    20 b>a NAK_SEQUENCE psn=100 msn=0
                    20 b>a SEND_ONLY psn=100 ackreq
                    40 a: sends 100 again, SEQUENCE_NAK
                    40 a: 9 SUCCESS
                    40 a>b ACK psn=100 msn=1 credits=0
                    40 a>b WRITE_ONLY psn=100 ackreq
                    40 a>b SEND_ONLY psn=101 ackreq
                    60 b: 2 SUCCESS
                    60 b: 7 SUCCESS
                    60 b>a ACK psn=101 msn=2 credits=1
                    80 a: 1 SUCCESS
                    80 a: 3 SUCCESS
                """);
    }

    @Test
    void responseOfOnePacketLeavesBeforeTheNextRequest() {
        onFirst(Opcode.RC_FETCH_ADD, () -> pair.b.send(2, 100));
        pair.a.send(1, 100);
        pair.a.add(3, 5);
        assertTrace("""
                     0 a>b SEND_ONLY psn=100 ackreq
                     0 a>b FETCH_ADD psn=101 ackreq
                    20 b: 7 SUCCESS
                    20 b>a ATOMIC_ACKNOWLEDGE psn=101 msn=2 credits=1
                    20 b>a SEND_ONLY psn=100 ackreq
                    40 a: 1 SUCCESS
                    40 a: 3 SUCCESS
                    40 a: 9 SUCCESS
                    40 a>b ACK psn=100 msn=1 credits=0
                    60 b: 2 SUCCESS
                """);
    }

    @Test
    void firstOfALongReadResponseAcknowledgesTheRequestsBeforeItAndLeavesFirst() {
        onFirst(Opcode.RC_READ_REQUEST, () -> pair.b.send(2, THREE_PACKETS));
        pair.a.send(1, 100);
        pair.a.read(3, THREE_PACKETS);
        assertTrace("""
                     0 a>b SEND_ONLY psn=100 ackreq
                     0 a>b READ_REQUEST psn=101 length=2500 ackreq
                    20 b: 7 SUCCESS
                    20 b>a READ_RESPONSE_FIRST psn=101 msn=2 credits=1
                    20 b>a SEND_FIRST psn=100
                    20 b>a READ_RESPONSE_MIDDLE psn=102
                    20 b>a SEND_MIDDLE psn=101
                    20 b>a READ_RESPONSE_LAST psn=103 msn=2 credits=1
                    20 b>a SEND_LAST psn=102 ackreq
                    40 a: 1 SUCCESS
                    40 a: 3 SUCCESS
                    40 a: 9 SUCCESS
                    40 a>b ACK psn=102 msn=1 credits=0
                    60 b: 2 SUCCESS
                """);
    }

    @Test
    void acknowledgementThatWaitsForALongReadResponseDoesNotHoldUpRequests() {
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, THREE_PACKETS));
        pair.a.read(3, 2 * THREE_PACKETS);
        pair.a.send(1, 100);
        assertTrace("""
                     0 a>b READ_REQUEST psn=100 length=5000 ackreq
                     0 a>b SEND_ONLY psn=105 ackreq
                    20 b: 7 SUCCESS
                    20 b>a READ_RESPONSE_FIRST psn=100 msn=1 credits=1
                    20 b>a SEND_FIRST psn=100
                    20 b>a READ_RESPONSE_MIDDLE psn=101
                    20 b>a READ_RESPONSE_MIDDLE psn=102
                    20 b>a READ_RESPONSE_MIDDLE psn=103
                    20 b>a SEND_MIDDLE psn=101
                    20 b>a READ_RESPONSE_LAST psn=104 msn=1 credits=1
                    20 b>a ACK psn=105 msn=2 credits=1
                    20 b>a SEND_LAST psn=102 ackreq
                    40 a: 3 SUCCESS
                    40 a: 1 SUCCESS
                    40 a: 9 SUCCESS
                    40 a>b ACK psn=102 msn=1 credits=0
                    60 b: 2 SUCCESS
                """);
    }

    @Test
    void anAnswerLeavesBeforeTheAcknowledgementIfThatIsWanted() {
        pair.b.queuePair.answerFirst();
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, 100));
        pair.a.send(1, 100);
        assertTrace("""
                     0 a>b SEND_ONLY psn=100 ackreq
                    20 b: 7 SUCCESS
                    20 b>a SEND_ONLY psn=100 ackreq
                    20 b>a ACK psn=100 msn=1 credits=1
                    40 a: 9 SUCCESS
                    40 a: 1 SUCCESS
                    40 a>b ACK psn=100 msn=1 credits=0
                    60 b: 2 SUCCESS
                """);
    }

    /** Or a long message would close the window of the peer. */
    @Test
    void onePacketOvertakesAnAcknowledgement() {
        pair.b.queuePair.answerFirst();
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, THREE_PACKETS));
        pair.a.send(1, 100);
        assertTrace("""
                     0 a>b SEND_ONLY psn=100 ackreq
                    20 b: 7 SUCCESS
                    20 b>a SEND_FIRST psn=100
                    20 b>a ACK psn=100 msn=1 credits=1
                    20 b>a SEND_MIDDLE psn=101
                    20 b>a SEND_LAST psn=102 ackreq
                    40 a: 1 SUCCESS
                    40 a: 9 SUCCESS
                    40 a>b ACK psn=102 msn=1 credits=0
                    60 b: 2 SUCCESS
                """);
    }

    @Test
    void nothingOvertakesANegativeAcknowledgement() {
        pair.b.queuePair.answerFirst();
        pair.wire.loseFirst(packet -> packet.psn() == 100);
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, 100));
        pair.a.write(1, 100);
        pair.a.send(3, 100);
        pair.settle();
        assertThat(pair.wire.takeTrace()).containsSubsequence("20 b>a NAK_SEQUENCE psn=100",
                "20 b>a SEND_ONLY psn=100");
    }

    @Test
    void nothingOvertakesWhereTheQueuePairsSendInTurns() {
        pair.b.queuePair.answerFirst();
        pair.b.sendsInTurns = true;
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.send(2, 100));
        pair.a.send(1, 100);
        pair.settle();
        assertThat(pair.wire.takeTrace()).containsSubsequence("20 b>a ACK psn=100",
                "20 b>a SEND_ONLY psn=100");
    }

    /** The peer would repeat its message to a queue pair that has failed. */
    @Test
    void whatWasCarriedOutIsAcknowledgedIfTheAnswerFails() {
        pair.b.queuePair.answerFirst();
        int unknownKey = pair.b.key + 1;
        onFirst(Opcode.RC_SEND_ONLY, () -> pair.b.post(
                pair.b.request(2).send().add(pair.b.address, 100, unknownKey)));
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS", "2 LOCAL_PROTECTION_ERROR", "8 WORK_REQUEST_FLUSHED");
    }
}
