// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.GlobalRouteHeader;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What the unreliable services have in common: their states, how requests end, and a second life. IBTA 10.3.1. */
class UnreliableStateTest {
    private static final int QKEY = 0x1111_1111;
    private static final int ROOM = GlobalRouteHeader.LENGTH + 100;
    private static final int KEY = 5;

    private final UnreliablePair.Settings settings = new UnreliablePair.Settings();

    private UnreliablePair pair(Service service) {
        settings.type = service.type;
        return new UnreliablePair(settings);
    }

    enum Service {
        UC(QueuePairType.UC, Opcode.UC_SEND_ONLY), UD(QueuePairType.UD, Opcode.UD_SEND_ONLY);

        private final QueuePairType type;
        private final Opcode opcode;

        Service(QueuePairType type, Opcode opcode) {
            this.type = type;
            this.opcode = opcode;
        }

        OutgoingPacket packet(UnreliableEnd from, int index) {
            OutgoingPacket packet = from.forge(opcode, index, 10);
            return this == UD ? packet.datagram(QKEY, from.number) : packet;
        }
    }

    @SuppressWarnings("NullAway")
    private static SendWorkRequest send(UnreliableEnd end, long id, int length) {
        return end.sendRequest(id, length).to(null, end.peer().number, QKEY);
    }

    private static void post(UnreliableEnd end, long id) {
        end.post(send(end, id, 10));
    }

    // ---------------------------------------------------------------- packets

    @ParameterizedTest
    @EnumSource(Service.class)
    void packetsAreTakenInTheStatesThatReceive(Service service) {
        List<QueuePairState> taking = new ArrayList<>();
        for (QueuePairState state : QueuePairState.values()) {
            UnreliablePair pair = pair(service);
            UnreliableEnd b = pair.b;
            b.modify(QueuePairState.RESET);
            if (state == QueuePairState.SQE) {
                b.bringTo(QueuePairState.RTS);
                failSend(b);
            } else {
                b.bringTo(state);
            }
            b.completions.clear();
            if (state != QueuePairState.ERR) {
                b.receive(7, ROOM);
            }
            pair.deliver(b, service.packet(pair.a, 0));
            boolean isTaken = b.completions.stream().anyMatch(c -> c.id() == 7
                    && c.status() == WorkCompletionStatus.SUCCESS);
            assertThat(b.counted(Counter.DROPPED_NOT_READY)).as("%s", state)
                    .isEqualTo(isTaken ? 0 : 1);
            if (isTaken) {
                taking.add(state);
            }
        }
        assertThat(taking).containsExactly(QueuePairState.RTR, QueuePairState.RTS,
                QueuePairState.SQD, QueuePairState.SQE);
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void firstPacketTellsThatThePeerIsReadyInEachLife(Service service) {
        UnreliablePair pair = pair(service);
        UnreliableEnd b = pair.b;
        for (int life = 1; life < 3; life++) {
            b.modify(QueuePairState.RESET);
            b.bringTo(QueuePairState.RTR);
            pair.deliver(b, service.packet(pair.a, 0));
            pair.deliver(b, service.packet(pair.a, 1));
            assertThat(b.timesReady).isEqualTo(life);
            assertThat(b.events).containsExactly(AsyncEventType.COMMUNICATION_ESTABLISHED);
            b.events.clear();
        }
        b.modify(QueuePairState.RESET);
        b.bringTo(QueuePairState.RTS);
        pair.deliver(b, service.packet(pair.a, 0));
        assertThat(b.timesReady).isEqualTo(3);
        assertThat(b.events).isEmpty();
    }

    // ---------------------------------------------------------------- requests

    @ParameterizedTest
    @EnumSource(Service.class)
    void requestsWaitForTheStateThatSends(Service service) {
        settings.stateOfA = QueuePairState.RTR;
        UnreliablePair pair = pair(service);
        post(pair.a, 1);
        pair.settle();
        assertThat(pair.trace).isEmpty();
        pair.a.modify(pair.a.attributesFor(QueuePairState.RTS));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    /** By then the host has copied the memory of the last packet. */
    @ParameterizedTest
    @EnumSource(Service.class)
    void requestCompletesWhenTheNextPacketIsAskedFor(Service service) {
        UnreliableEnd a = pair(service).a;
        OutgoingPacket packet = new OutgoingPacket();
        post(a, 1);
        assertThat(a.queuePair.pollTransmit(packet, 0)).isTrue();
        assertThat(a.completions).isEmpty();
        assertThat(a.queuePair.pollTransmit(packet, 0)).isFalse();
        a.assertCompleted("1 SUCCESS");
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void localRequestsTakeTheirTurnAndNoPacket(Service service) {
        UnreliablePair pair = pair(service);
        post(pair.a, 1);
        pair.a.post(pair.a.request(2).localInvalidate(9));
        post(pair.a, 3);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(pair.a.regions.carriedOut).containsExactly(2L);
        assertThat(pair.trace).containsExactly("a>b SEND_ONLY 0", "a>b SEND_ONLY 1");
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void localRequestThatFailsStopsTheSendQueue(Service service) {
        UnreliablePair pair = pair(service);
        pair.a.regions.localOutcome = WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        pair.a.post(pair.a.request(1).opcode(SendOpcode.BIND_MEMORY_WINDOW));
        post(pair.a, 2);
        pair.settle();
        pair.a.assertCompleted("1 MEMORY_WINDOW_BIND_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.SQE);
    }

    private static void failSend(UnreliableEnd end) {
        end.post(send(end, 90, 0).add(end.address, 10, KEY));
        end.transmit();
        end.assertCompleted("90 LOCAL_PROTECTION_ERROR");
        assertThat(end.queuePair.state()).isEqualTo(QueuePairState.SQE);
    }

    /** Only the sending half is at fault, so receiving goes on, and so does sending once it is started again. */
    @ParameterizedTest
    @EnumSource(Service.class)
    void sendThatFailsStopsTheSendQueueUntilItIsStartedAgain(Service service) {
        UnreliablePair pair = pair(service);
        post(pair.a, 1);
        pair.a.post(send(pair.a, 2, 0).add(pair.a.address, 10, KEY));
        post(pair.a, 3);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 LOCAL_PROTECTION_ERROR", "3 WORK_REQUEST_FLUSHED");
        post(pair.a, 4);
        pair.a.assertCompleted("4 WORK_REQUEST_FLUSHED");
        pair.a.receive(7, ROOM);
        assertThat(pair.a.completions).isEmpty();
        pair.a.modify(QueuePairState.RTS);
        post(pair.a, 5);
        pair.settle();
        pair.a.assertCompleted("5 SUCCESS");
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void sendWhoseMemoryGoesBeforeItIsCopiedFails(Service service) {
        UnreliablePair pair = pair(service);
        Arena arena = Arena.ofConfined();
        pair.a.regions.register(KEY, 0, arena.allocate(64), EnumSet.allOf(AccessFlag.class));
        arena.close();
        pair.a.post(send(pair.a, 1, 0).add(0, 10, KEY));
        post(pair.a, 2);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.SQE);
        assertThat(pair.trace).isEmpty();
    }

    // ---------------------------------------------------------------- draining

    private static QueuePairAttributes drain(boolean isReported) {
        return new QueuePairAttributes().state(QueuePairState.SQD)
                .enableSqdAsyncNotify(isReported);
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void drainedQueueIsReportedIfAskedFor(Service service) {
        for (boolean isReported : new boolean[]{false, true}) {
            UnreliableEnd a = pair(service).a;
            a.modify(drain(isReported));
            assertThat(a.events).hasSize(isReported ? 1 : 0);
            a.modify(QueuePairState.RTS);
            a.modify(new QueuePairAttributes().state(QueuePairState.SQD));
            assertThat(a.events).hasSize(isReported ? 1 : 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void whatWasNotBegunWaitsUntilSendingGoesOn(Service service) {
        UnreliablePair pair = pair(service);
        post(pair.a, 1);
        pair.a.modify(drain(true));
        pair.settle();
        assertThat(pair.trace).isEmpty();
        assertThat(pair.a.events).containsExactly(AsyncEventType.SEND_QUEUE_DRAINED);
        pair.a.modify(QueuePairState.RTS);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.events).hasSize(1);
    }

    @Test
    void messageThatWasBegunIsFinishedBeforeTheQueueIsDrained() {
        UnreliablePair pair = pair(Service.UC);
        OutgoingPacket packet = new OutgoingPacket();
        pair.a.send(1, 2500);
        pair.a.send(2, 2500);
        assertThat(pair.a.queuePair.pollTransmit(packet, 0)).isTrue();
        pair.a.modify(drain(true));
        assertThat(pair.a.events).isEmpty();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.trace).containsExactly("a>b SEND_MIDDLE 1", "a>b SEND_LAST 2");
        assertThat(pair.a.events).containsExactly(AsyncEventType.SEND_QUEUE_DRAINED);
    }

    // ---------------------------------------------------------------- the end

    @ParameterizedTest
    @EnumSource(Service.class)
    void failureFlushesBothQueuesAndWhatIsPostedLater(Service service) {
        UnreliablePair pair = pair(service);
        UnreliableEnd a = pair.a;
        OutgoingPacket packet = new OutgoingPacket();
        post(a, 1);
        post(a, 2);
        a.receive(7, ROOM);
        a.receive(8, ROOM);
        assertThat(a.queuePair.pollTransmit(packet, 0)).isTrue();
        a.modify(QueuePairState.ERR);
        a.assertCompleted("1 SUCCESS", "2 WORK_REQUEST_FLUSHED", "7 WORK_REQUEST_FLUSHED",
                "8 WORK_REQUEST_FLUSHED");
        a.modify(QueuePairState.ERR);
        post(a, 3);
        a.receive(9, ROOM);
        a.assertCompleted("3 WORK_REQUEST_FLUSHED", "9 WORK_REQUEST_FLUSHED");
        assertThat(a.queuePair.pollTransmit(packet, 0)).isFalse();
        assertThat(a.events).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Service.class)
    void sharedReceivesStayForTheOthersAndTheEndIsReportedInEachLife(Service service) {
        settings.hasSharedReceives = true;
        UnreliableEnd a = pair(service).a;
        for (int life = 1; life < 3; life++) {
            a.receive(7, ROOM);
            a.modify(QueuePairState.ERR);
            a.modify(QueuePairState.ERR);
            assertThat(a.completions).isEmpty();
            assertThat(a.receives.available()).isEqualTo(life);
            assertThat(a.events).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
            assertThat(a.queuePair.wantsReceiveDoorbell()).isFalse();
            a.events.clear();
            a.modify(QueuePairState.RESET);
            a.bringTo(QueuePairState.RTS);
        }
    }

    @Test
    void receiveOfAMessageThatHadBegunIsFlushed() {
        settings.hasSharedReceives = true;
        UnreliablePair pair = pair(Service.UC);
        pair.b.receive(7, 3000);
        pair.b.receive(8, 3000);
        pair.deliver(pair.b, pair.a.forge(Opcode.UC_SEND_FIRST, 0, 1024));
        pair.b.modify(QueuePairState.ERR);
        pair.b.assertCompleted("7 WORK_REQUEST_FLUSHED");
        pair.b.modify(QueuePairState.RESET);
        assertThat(pair.b.completions).isEmpty();
    }

    // ---------------------------------------------------------------- a second life

    @ParameterizedTest
    @EnumSource(Service.class)
    void requestsOfTheFirstLifeAreGoneWithoutACompletion(Service service) {
        settings.stateOfA = QueuePairState.RTR;
        UnreliablePair pair = pair(service);
        post(pair.a, 1);
        pair.a.receive(7, ROOM);
        pair.a.modify(QueuePairState.RESET);
        pair.a.bringTo(QueuePairState.RTS);
        pair.deliver(pair.a, service.packet(pair.b, 0));
        post(pair.a, 2);
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
        assertThat(pair.a.counted(Counter.DROPPED_MESSAGE)).isOne();
    }

    @Test
    void halfAMessageIsForgottenOnBothSides() {
        UnreliablePair pair = pair(Service.UC);
        OutgoingPacket packet = new OutgoingPacket();
        pair.a.send(1, 2500);
        assertThat(pair.a.queuePair.pollTransmit(packet, 0)).isTrue();
        pair.b.receive(7, 3000);
        pair.deliver(pair.b, packet);
        for (UnreliableEnd end : List.of(pair.a, pair.b)) {
            end.modify(QueuePairState.RESET);
            end.bringTo(QueuePairState.RTS);
        }
        pair.b.receive(8, 3000);
        // It continues what the first life began.
        pair.deliver(pair.b, pair.a.forge(Opcode.UC_SEND_LAST, 0, 10));
        pair.b.modify(QueuePairState.RESET);
        pair.b.bringTo(QueuePairState.RTS);
        pair.b.receive(9, 3000);
        pair.a.send(2, 2500);
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
        pair.b.assertCompleted("9 SUCCESS");
        assertThat(pair.trace).containsExactly("a>b SEND_FIRST 0", "a>b SEND_MIDDLE 1",
                "a>b SEND_LAST 2");
        assertThat(pair.b.counted(Counter.DROPPED_MESSAGE)).isZero();
    }

    /** The last packet has been polled, and the request would complete with the next poll. */
    @ParameterizedTest
    @EnumSource(Service.class)
    void requestThatWasSentButNotReportedIsForgotten(Service service) {
        UnreliablePair pair = pair(service);
        OutgoingPacket packet = new OutgoingPacket();
        post(pair.a, 1);
        assertThat(pair.a.queuePair.pollTransmit(packet, 0)).isTrue();
        pair.a.modify(QueuePairState.RESET);
        pair.a.bringTo(QueuePairState.RTS);
        pair.settle();
        assertThat(pair.a.completions).isEmpty();
        post(pair.a, 2);
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
    }

    @Test
    void drainThatWasAskedForIsReportedInNoOtherLife() {
        UnreliablePair pair = pair(Service.UC);
        OutgoingPacket packet = new OutgoingPacket();
        pair.a.send(1, 2500);
        assertThat(pair.a.queuePair.pollTransmit(packet, 0)).isTrue();
        pair.a.modify(drain(true));
        pair.a.modify(QueuePairState.RESET);
        pair.a.bringTo(QueuePairState.RTS);
        pair.a.send(2, 100);
        pair.settle();
        pair.a.modify(drain(false));
        assertThat(pair.a.events).isEmpty();
    }
}
