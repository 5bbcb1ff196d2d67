package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Receivers that are not ready, credits, fences, limits of READs, signaling, inline data. */
class RcFlowTest {
    @Test
    void sendWithoutReceiveWaitsUntilOneIsPosted() throws Exception {
        Pair pair = new Pair();
        pair.a.send(1, 100);
        pair.run(50_000_000);
        pair.a.assertCompleted();
        assertThat(pair.a.queuePair.counter(Counter.RCVD_RNR_ERR)).isGreaterThan(10);
        pair.b.receive(7, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS");
    }

    /** Its acknowledgement may have waited for what the receiver does next. */
    @Test
    void lastMessageIsAcknowledgedThoughItsReceiverClosesAtOnce() throws Exception {
        Pair pair = new Pair();
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.simulation.network.advanceTo(pair.simulation.network.nowNs() + 1_000_000);
        assertThat(pair.b.completionQueue.poll(new WorkCompletion())).isTrue();
        pair.b.queuePair.close();
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void answerTakesTheAcknowledgementAlong() throws Exception {
        Pair pair = new Pair();
        pair.a.receive(8, 100);
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.simulation.network.advanceTo(pair.simulation.network.nowNs() + 1_000_000);
        int before = pair.simulation.network.packets();
        assertThat(pair.b.completionQueue.poll(new WorkCompletion())).isTrue();
        assertThat(pair.simulation.network.packets()).isEqualTo(before);
        pair.b.send(2, 100);
        assertThat(pair.simulation.network.packets()).isEqualTo(before + 2);
        pair.settle();
        pair.a.assertCompleted("8 SUCCESS", "1 SUCCESS");
    }

    @Test
    void senderLearnsOfAPostedReceiveBeforeItsTimerEnds() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.minRnrTimer = 0;
        Pair pair = new Pair(settings);
        pair.a.send(1, 100);
        pair.run(1_000_000);
        pair.b.receive(7, 100);
        // The timer's code 0 means 655 ms.
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void senderGivesUpAfterItsRetriesWhenNoReceiveIsPosted() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.rnrRetry = 2;
        Pair pair = new Pair(settings);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 RNR_RETRY_EXCEEDED_ERROR");
        assertThat(pair.a.queuePair.counter(Counter.RCVD_RNR_ERR)).isEqualTo(3);
        assertThat(pair.a.queuePair.counter(Counter.RETRY_RNR_EXCEEDED_ERR)).isOne();
    }

    @Test
    void writeWithImmediateWritesOnlyOnceItHasAReceive() throws Exception {
        Pair pair = new Pair();
        pair.a.queuePair.postSend(pair.a.request(1)
                .writeWithImmediate(pair.b.region.address() + Pair.MEMORY / 2,
                        pair.b.region.rkey(), 0x1234)
                .add(pair.a.region, 0, 100));
        pair.run(10_000_000);
        pair.a.assertCompleted();
        pair.b.receive(7, 0);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions.getFirst().immediate()).isEqualTo(0x1234);
        assertThat(pair.b.completions.getFirst().byteLength()).isEqualTo(100);
        pair.b.assertCompleted("7 SUCCESS");
        assertThat(pair.b.hasPeersBytes(100)).isTrue();
    }

    @Test
    void senderKeepsToTheCreditsOfTheReceiver() throws Exception {
        Pair pair = new Pair();
        pair.b.receive(0, 3000);
        pair.a.send(0, 3000);
        pair.settle();
        List<Opcode> sent = new ArrayList<>();
        pair.simulation.network.loseIf(packet -> {
            if (!packet.opcode().isResponse()) {
                sent.add(packet.opcode());
            }
            return false;
        });
        // The last acknowledgement offered no receive: of a longer message only the first packet
        // may go, and it finds nobody ready.
        pair.a.send(1, 3000);
        pair.run(100_000);
        assertThat(sent).containsExactly(Opcode.RC_SEND_FIRST);
        pair.b.receive(1, 3000);
        pair.settle();
        assertThat(sent).containsExactly(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_FIRST,
                Opcode.RC_SEND_MIDDLE, Opcode.RC_SEND_LAST);
    }

    /** The peer counts a message for each of the requests that a long READ is asked for in, and none for a bind. */
    @Test
    void longReadBeforeMessagesLendsNoCredits() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.mtu = Mtu.MTU_256;
        Pair pair = new Pair(settings);
        for (int i = 0; i < 7; i++) {
            pair.b.receive(i, 100);
        }
        pair.a.send(0, 100);
        pair.settle();
        pair.a.read(1, 30_000);
        pair.settle();
        int[] sends = {0};
        pair.simulation.network.loseIf(packet -> {
            sends[0] += packet.opcode() == Opcode.RC_SEND_ONLY ? 1 : 0;
            return false;
        });
        pair.a.send(2, 100);
        pair.run(25_000);
        for (int id = 3; id < 12; id++) {
            pair.a.send(id, 100);
        }
        // The first message is answered, five others are under way: as many as there were receives.
        pair.run(30_000);
        pair.a.assertCompleted("0 SUCCESS", "1 SUCCESS", "2 SUCCESS");
        assertThat(sends[0]).isEqualTo(6);
    }

    @Test
    void receiveThatComesLateLetsTheNextLossBeTold() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.minRnrTimer = 31;
        Pair pair = new Pair(settings);
        pair.b.receive(0, 100);
        pair.a.send(0, 100);
        pair.settle();
        // Without a credit one packet goes alone.
        pair.a.send(1, 3000);
        pair.run(100_000);
        assertThat(pair.a.queuePair.counter(Counter.RCVD_RNR_ERR)).isOne();
        boolean[] isLost = {false};
        pair.simulation.network.loseIf(packet -> {
            boolean loses = !isLost[0] && packet.opcode() == Opcode.RC_SEND_FIRST;
            isLost[0] |= loses;
            return loses;
        });
        pair.b.receive(7, 3000);
        // The receive is announced, the message comes at once, and what is missing of it is told at once.
        pair.run(200_000);
        pair.b.assertCompleted("0 SUCCESS", "7 SUCCESS");
        assertThat(isLost[0]).isTrue();
    }

    @Test
    void writesNeedNoCredits() throws Exception {
        Pair pair = new Pair();
        pair.b.receive(0, 10);
        pair.a.send(0, 10);
        pair.settle();
        pair.a.completions.clear();
        for (int i = 1; i <= Pair.DEPTH; i++) {
            pair.a.write(i, 100);
        }
        pair.run(60_000);
        assertThat(pair.a.completions).hasSize(Pair.DEPTH);
    }

    @Test
    void fenceHoldsARequestUntilEarlierReadsAreComplete() throws Exception {
        Pair pair = new Pair();
        pair.simulation.network.loseIf(packet -> packet.opcode().isResponse());
        pair.a.read(1, 100);
        pair.a.queuePair.postSend(pair.a.request(2)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .add(pair.a.region, 0, 100).set(SendFlag.FENCE));
        pair.run(1_000_000);
        assertThat(pair.b.upperByte(0)).isZero();
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.b.hasPeersBytes(100)).isTrue();
    }

    @Test
    void noMoreReadsAreOutstandingThanAgreed() throws Exception {
        Pair pair = new Pair();
        int[] outstanding = new int[2];
        pair.simulation.network.loseIf(packet -> {
            switch (packet.opcode()) {
                case RC_READ_REQUEST -> outstanding[1] = Math.max(outstanding[1],
                        ++outstanding[0]);
                case RC_READ_RESPONSE_ONLY -> outstanding[0]--;
                default -> {
                    // Neither asks nor answers.
                }
            }
            return false;
        });
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.a.read(i, 100);
        }
        pair.settle();
        assertThat(pair.a.completions).hasSize(Pair.DEPTH).allMatch(c -> c.isSuccess());
        assertThat(outstanding[1]).isEqualTo(4);
    }

    @Test
    void readWithoutAnyAgreedIsALocalError() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.readAtomic = 0;
        Pair pair = new Pair(settings);
        pair.a.read(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_QP_OPERATION_ERROR");
    }

    @Test
    void longReadsAreAskedForInPiecesThatFitTheWindow() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.mtu = Mtu.MTU_256;
        Pair pair = new Pair(settings);
        pair.a.read(1, Pair.MEMORY / 2);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(Pair.MEMORY / 2)).isTrue();
        assertThat(pair.a.queuePair.counter(Counter.SENT_PKTS)).isGreaterThan(4);
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void unsignaledRequestsReportNothingAndFreeTheirSlots() throws Exception {
        Pair pair = new Pair();
        SendWorkRequest quiet = new SendWorkRequest()
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .add(pair.a.region, 0, 100);
        for (int i = 0; i < 5 * Pair.DEPTH; i++) {
            pair.a.queuePair.postSend(quiet.id(i));
            pair.run(200_000);
        }
        pair.a.assertCompleted();
        pair.a.write(1000, 100);
        pair.settle();
        pair.a.assertCompleted("1000 SUCCESS");
    }

    @Test
    void inlineDataMayChangeAsSoonAsItIsPosted() throws Exception {
        Pair pair = new Pair();
        byte[] bytes = "inline bytes".getBytes(StandardCharsets.US_ASCII);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.queuePair.postSend(pair.a.request(1)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .inline(MemorySegment.ofArray(bytes)));
        Arrays.fill(bytes, (byte) 'x');
        pair.run(100_000);
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.memory.asSlice(Pair.MEMORY / 2, 13).getString(0))
                .isEqualTo("inline bytes");
    }

    @Test
    void inlineElementsAreCopiedToo() throws Exception {
        Pair pair = new Pair();
        byte first = pair.a.memory.get(ValueLayout.JAVA_BYTE, 0);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.queuePair.postSend(pair.a.request(1)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .add(pair.a.region, 0, 10).add(pair.a.region, 20, 10).set(SendFlag.INLINE));
        pair.a.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) (first + 1));
        pair.run(100_000);
        pair.simulation.network.loseIf(null);
        pair.settle();
        assertThat(pair.b.upperByte(0)).isEqualTo(first);
    }

    @Test
    void gatherAndScatterCrossElementAndPacketBoundaries() throws Exception {
        Pair pair = new Pair();
        pair.b.queuePair.postReceive(new ReceiveWorkRequest().id(7)
                .add(pair.b.region, Pair.MEMORY / 2, 1500)
                .add(pair.b.region, Pair.MEMORY / 2 + 1500, 5000));
        pair.a.queuePair.postSend(pair.a.request(1).send().add(pair.a.region, 0, 700)
                .add(pair.a.region, 700, 3000));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions.getFirst().byteLength()).isEqualTo(3700);
        assertThat(pair.b.hasPeersBytes(3700)).isTrue();
    }

    @Test
    void solicitedNotificationWaitsForASolicitedMessage() throws Exception {
        Pair pair = new Pair();
        CompletionChannel channel = CompletionChannel.create();
        CompletionQueue queue = pair.b.node.context.createCompletionQueue(16, channel);
        Pair.Side receiver = pair.new Side(pair.simulation.b, queue);
        Pair.Side sender = pair.new Side(pair.simulation.a);
        sender.connect(receiver, new Pair.Settings());
        receiver.connect(sender, new Pair.Settings());
        queue.requestNotification(true);
        receiver.receive(1, 100);
        receiver.receive(2, 100);
        sender.send(1, 10);
        pair.settle();
        assertThat(channel.pollEvent(Duration.ZERO)).isNull();
        sender.queuePair.postSend(sender.request(2).send().add(sender.region, 0, 10)
                .set(SendFlag.SOLICITED));
        pair.settle();
        assertThat(channel.pollEvent(Duration.ZERO)).isSameAs(queue);
        queue.acknowledgeEvents(1);
    }
}
