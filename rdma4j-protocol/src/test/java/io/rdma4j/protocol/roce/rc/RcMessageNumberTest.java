// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.work.SendRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The peer's count of messages has 24 bits on the wire, and begins anew behind the last of them. IBTA 9.7.7.2. */
class RcMessageNumberTest {
    private static final int NUMBERS = 1 << 24;

    /** {@return a pair whose requester has had as many messages as there are numbers, so that the next have the same ones} */
    private static RcPair pairWithALongLife() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        RcPair pair = new RcPair(settings);
        SendWindow window = pair.a.queuePair.window;
        SendRequest read = new SendRequest(1, null);
        for (int i = 0; i < NUMBERS; i++) {
            // Each request of a READ is a message; this one asks for nothing.
            window.beginRead(read, window.next);
            window.reads.prune(window.una);
        }
        pair.a.write(0, 100);
        pair.settle();
        pair.a.completions.clear();
        pair.wire.takeTrace();
        return pair;
    }

    /** The first SEND is answered behind a READ whose answer is lost, and that says how many more may follow. */
    @Test
    void creditsOfMessagesBehindAnUnfinishedReadCountFromTheNewestNumber() {
        RcPair pair = pairWithALongLife();
        pair.b.receive(7, 100);
        pair.b.receive(8, 100);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.wire.takeTrace();
        pair.b.receive(9, 100);
        pair.b.receive(10, 100);
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY);
        pair.a.read(2, 100);
        pair.a.send(3, 100);
        pair.a.send(4, 100);
        pair.a.send(5, 100);
        pair.settle();
        assertThat(pair.wire.takeTrace()).isEqualTo("""
                    80 a>b READ_REQUEST psn=102 length=100 ackreq
                    80 a>b SEND_ONLY psn=103 ackreq
                   100 b: 8 SUCCESS
                   100 b>a READ_RESPONSE_ONLY psn=102 msn=3 credits=2 LOST
                   100 b>a ACK psn=103 msn=4 credits=2
                   120 a: sends 102 again, IMPLIED_NAK
                   120 a>b READ_REQUEST psn=102 length=100 ackreq
                   120 a>b SEND_ONLY psn=103 ackreq
                   120 a>b SEND_ONLY psn=104 ackreq
                   120 a>b SEND_ONLY psn=105 ackreq
                   140 b: 9 SUCCESS
                   140 b: 10 SUCCESS
                   140 b>a READ_RESPONSE_ONLY psn=102 msn=4 credits=0
                   140 b>a ACK psn=105 msn=6 credits=0
                   160 a: 2 SUCCESS
                   160 a: 3 SUCCESS
                   160 a: 4 SUCCESS
                   160 a: 5 SUCCESS
                """);
    }
}
