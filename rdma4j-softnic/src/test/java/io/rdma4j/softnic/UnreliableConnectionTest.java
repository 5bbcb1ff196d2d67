// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletionFlag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.function.Predicate;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Messages over an unreliable connection: they arrive whole, once, or not at all. */
class UnreliableConnectionTest {
    private final Pair pair = Pair.of(QueuePairType.UC);

    UnreliableConnectionTest() throws Exception {}

    private void loseFirst(Predicate<PacketView> rule) {
        boolean[] isLost = {false};
        pair.simulation.network.loseIf(packet -> {
            boolean isIt = !isLost[0] && rule.test(packet);
            isLost[0] |= isIt;
            return isIt;
        });
    }

    @Test
    void messageOfSeveralPacketsArrives() throws Exception {
        pair.b.receive(10, 5000);
        pair.a.send(1, 5000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("10 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
    }

    @Test
    void emptyMessageArrives() throws Exception {
        pair.b.receive(10, 0);
        pair.a.send(1, 0);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("10 SUCCESS");
    }

    @Test
    void immediateDataComesAlong() throws Exception {
        pair.b.receive(10, 100);
        pair.b.receive(11, 0);
        pair.a.queuePair
                .postSend(pair.a.request(1).sendWithImmediate(77).add(pair.a.region, 0, 100));
        pair.a.queuePair.postSend(pair.a.request(2)
                .writeWithImmediate(pair.b.region.address() + Pair.MEMORY / 2,
                        pair.b.region.rkey(), 78)
                .add(pair.a.region, 0, 3000));
        pair.settle();
        assertThat(pair.b.completions).hasSize(2)
                .allMatch(completion -> completion.has(WorkCompletionFlag.WITH_IMMEDIATE));
        assertThat(pair.b.completions.get(0).immediate()).isEqualTo(77);
        assertThat(pair.b.completions.get(1).immediate()).isEqualTo(78);
        assertThat(pair.b.completions.get(1).byteLength()).isEqualTo(3000);
        assertThat(pair.b.hasPeersBytes(3000)).isTrue();
    }

    @Test
    void lossOfAnyPacketDropsItsMessageAndNoOther() throws Exception {
        for (Opcode lost : new Opcode[]{Opcode.UC_SEND_FIRST, Opcode.UC_SEND_MIDDLE,
            Opcode.UC_SEND_LAST}) {
            loseFirst(packet -> packet.opcode() == lost);
            pair.b.receive(10, 5000);
            pair.a.send(1, 4000);
            pair.a.send(2, 5000);
            pair.settle();
            pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
            assertThat(pair.b.completions).as("%s lost", lost).singleElement()
                    .satisfies(c -> assertThat(c.byteLength()).isEqualTo(5000));
            pair.b.assertCompleted("10 SUCCESS");
        }
        assertThat(counted(pair.b.queuePair, Counter.OUT_OF_SEQ_REQUEST)).isEqualTo(3);
    }

    @Test
    void lossOfThePacketOfAShortMessageDropsOnlyIt() throws Exception {
        loseFirst(packet -> packet.opcode() == Opcode.UC_SEND_ONLY);
        pair.b.receive(10, 100);
        pair.a.send(1, 10);
        pair.a.send(2, 20);
        pair.settle();
        assertThat(pair.b.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(20));
    }

    @Test
    void repeatedPacketsMakeNoSecondMessage() throws Exception {
        pair.simulation.network.duplication = 1;
        pair.b.receive(10, 5000);
        pair.b.receive(11, 5000);
        pair.a.send(1, 5000);
        pair.settle();
        pair.b.assertCompleted("10 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
    }

    @Test
    void packetWithANumberFarOffIsDroppedAndMessagesGoOnArriving() throws Exception {
        pair.b.receive(10, 5000);
        pair.b.receive(11, 5000);
        pair.a.send(1, 5000);
        pair.settle();
        for (int distance : new int[]{5000, 1 << 22, 1 << 23}) {
            pair.simulation.network
                    .inject(pair.a.forge(Opcode.UC_SEND_ONLY, Pair.FIRST_PSN + distance));
        }
        pair.settle();
        pair.b.assertCompleted("10 SUCCESS");
        pair.a.send(2, 5000);
        pair.settle();
        pair.b.assertCompleted("11 SUCCESS");
    }

    @Test
    void packetFarOffHarmsNoMessageUnderWay() throws Exception {
        boolean[] isForged = {false};
        pair.simulation.network.loseIf(packet -> {
            if (packet.opcode() == Opcode.UC_SEND_MIDDLE && !isForged[0]) {
                isForged[0] = true;
                pair.simulation.network
                        .inject(pair.a.forge(Opcode.UC_SEND_ONLY, Pair.FIRST_PSN + 100_000));
            }
            return false;
        });
        pair.b.receive(10, 5000);
        pair.a.send(1, 5000);
        pair.settle();
        assertThat(isForged[0]).isTrue();
        pair.b.assertCompleted("10 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
    }

    @Test
    void messageWithoutReceiveRequestIsDropped() throws Exception {
        pair.a.send(1, 10);
        pair.settle();
        pair.b.receive(10, 100);
        pair.a.send(2, 20);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        pair.b.assertCompleted("10 SUCCESS");
        assertThat(counted(pair.b.queuePair, Counter.DROPPED_MESSAGE)).isEqualTo(1);
    }

    @Test
    void messageLongerThanItsReceiveRequestIsDroppedAndTheRequestWaits() throws Exception {
        pair.b.receive(10, 3000);
        pair.a.send(1, 5000);
        pair.a.send(2, 3000);
        pair.settle();
        assertThat(pair.b.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(3000));
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void writeWithAWrongKeyIsDroppedWithoutHarm() throws Exception {
        pair.a.queuePair.postSend(pair.a.request(1)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey() + 1)
                .add(pair.a.region, 0, 3000));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.upperByte(0)).isZero();
        pair.a.write(2, 3000);
        pair.settle();
        assertThat(pair.b.hasPeersBytes(3000)).isTrue();
    }

    @Test
    void operationsThatNeedAnAnswerAreRefused() {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> pair.a.read(1, 10))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining("type UC").withMessageContaining("RDMA_READ");
    }

    @Test
    void sendThatFailsHereStopsTheSendQueueUntilItIsStartedAgain() throws Exception {
        pair.a.queuePair.postSend(
                pair.a.request(1).send().add(pair.a.region.address(), 10, 0x1234_5678));
        pair.a.send(2, 10);
        pair.settle();
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.SQE);
        pair.a.send(3, 10);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR", "2 WORK_REQUEST_FLUSHED",
                "3 WORK_REQUEST_FLUSHED");
        // Receives go on meanwhile.
        pair.a.receive(20, 100);
        pair.b.send(30, 100);
        pair.settle();
        pair.a.assertCompleted("20 SUCCESS");
        pair.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        pair.b.receive(40, 100);
        pair.a.send(4, 100);
        pair.settle();
        pair.a.assertCompleted("4 SUCCESS");
        assertThat(pair.b.completions).anyMatch(c -> c.id() == 40 && c.isSuccess());
    }

    @Test
    void errorStateFlushesBothQueues() throws Exception {
        pair.a.receive(10, 100);
        pair.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        pair.a.send(1, 10);
        pair.a.receive(11, 100);
        pair.settle();
        assertThat(pair.a.completions).hasSize(3).noneMatch(c -> c.isSuccess());
    }

    @Test
    void drainedSendQueueIsReported() throws Exception {
        pair.a.send(1, 20_000);
        pair.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                .enableSqdAsyncNotify(true));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO)).isNotNull()
                .satisfies(event -> assertThat(event.type())
                        .isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED));
    }

    @Test
    void unsignaledSendsReportNothing() throws Exception {
        pair.b.receive(10, 100);
        pair.a.queuePair.postSend(
                pair.a.request(1).send().add(pair.a.region, 0, 10).set(SendFlag.SIGNALED, false));
        pair.settle();
        assertThat(pair.a.completions).isEmpty();
        pair.b.assertCompleted("10 SUCCESS");
    }
}
