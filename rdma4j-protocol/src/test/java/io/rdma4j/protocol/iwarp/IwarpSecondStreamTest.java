// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

/** A queue pair that has had a stream, was in RESET and gets another remembers nothing of the first. */
class IwarpSecondStreamTest {
    private static final int LONG = 1000;

    private final StreamPair.Settings settings = new StreamPair.Settings();
    private StreamPair pair = begin();
    private StreamEnd a = pair.initiator;
    private StreamEnd b = pair.responder;

    private StreamPair begin() {
        // Long messages take many units.
        settings.longestUnit = 64;
        pair = new StreamPair(settings);
        a = pair.initiator;
        b = pair.responder;
        return pair;
    }

    /** Lets a unit or two of a message arrive, and then cuts the stream. */
    private void cutWithinAMessage() {
        settings.room = 128;
        begin();
    }

    private void cut() {
        a.work(pair.nowNs);
        b.takeAll();
        a.out.cut();
        b.out.cut();
        pair.work();
        pair.connectAgain();
        a.completions.clear();
        b.completions.clear();
        b.states.clear();
    }

    private void assertEverythingWorks() {
        b.receive(10, LONG);
        b.receive(11, LONG);
        a.send(1, LONG);
        a.read(2, LONG, b);
        a.write(3, LONG, b);
        a.send(4, 10);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
        b.assertCompleted("10 SUCCESS", "11 SUCCESS");
        assertThat(a.terminations).isEmpty();
        assertThat(b.terminations).isEmpty();
    }

    // [RFC 5041 4.3-1]
    @Test
    void numbersOfMessagesBeginAnew() {
        for (int stream = 0; stream < 3; stream++) {
            assertEverythingWorks();
            assertThat(b.hasReceived).isTrue();
            pair.connectAgain();
        }
    }

    @Test
    void writeThatWasCutIsForgottenOnBothSides() {
        cutWithinAMessage();
        a.write(1, LONG, b);
        cut();
        assertEverythingWorks();
    }

    @Test
    void sendThatWasCutIsForgottenOnBothSides() {
        cutWithinAMessage();
        b.receive(10, LONG);
        a.send(1, LONG);
        cut();
        assertEverythingWorks();
    }

    @Test
    void answerThatWasCutIsForgottenOnBothSides() {
        cutWithinAMessage();
        a.read(1, LONG, b);
        a.work(pair.nowNs);
        b.work(pair.nowNs);
        a.takeAll();
        cut();
        assertEverythingWorks();
    }

    @Test
    void readsThatWereNeverAnsweredTakeNoRoom() {
        for (int id = 0; id < 4; id++) {
            a.read(id, 10, b);
        }
        a.work(pair.nowNs);
        b.takeAll();
        cut();
        assertEverythingWorks();
    }

    @Test
    void requestsThatWaitedForAStreamAreGoneWithoutACompletion() {
        pair.connectAgain();
        a.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        a.modify(new QueuePairAttributes().state(QueuePairState.INIT));
        a.send(1, 10);
        a.receive(10, 10);
        pair.connectAgain();
        assertThat(a.receives.available()).isZero();
        pair.settle();
        assertThat(a.completions).isEmpty();
        assertEverythingWorks();
    }

    /** Whoever gives none to the next peer means that. */
    @Test
    void rightsOfTheFirstPeerAreNotThoseOfTheSecond() {
        b.givesRights = false;
        pair.connectAgain();
        byte[] before = b.memory.toArray(JAVA_BYTE);
        a.write(1, 10, b);
        pair.settle();
        assertThat(b.terminations).containsExactly("says: invalid STag");
        assertThat(b.memory.toArray(JAVA_BYTE)).isEqualTo(before);
    }

    @Test
    void failureOfARequestOfTheFirstStreamFailsNoOther() {
        a.post(StreamEnd.request(1).send().add(a.address, 10, 0x1234));
        pair.settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
        pair.connectAgain();
        a.terminations.clear();
        b.terminations.clear();
        assertEverythingWorks();
    }

    @Test
    void lastWordsThatWereNotSentAreNotSentAnyMore() {
        a.queuePair.onBytes(MemorySegment.ofArray(new byte[8]), 0, 8, 0);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(a.queuePair.isOver()).isFalse();
        pair.connectAgain();
        a.terminations.clear();
        assertEverythingWorks();
    }

    @Test
    void wishToDisconnectIsForgotten() {
        a.queuePair.disconnect();
        pair.settle();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        pair.connectAgain();
        assertThat(a.queuePair.isOver()).isFalse();
        assertEverythingWorks();
    }

    @Test
    void lastReceiveOfASharedQueueIsReportedInEachLife() {
        settings.hasSharedReceives = true;
        begin();
        for (int stream = 1; stream < 3; stream++) {
            a.receive(10, 100);
            a.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            assertThat(a.events).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
            assertThat(a.queuePair.wantsReceiveDoorbell()).isFalse();
            assertThat(a.receives.available()).isEqualTo(stream);
            a.events.clear();
            pair.connectAgain();
        }
    }
}
