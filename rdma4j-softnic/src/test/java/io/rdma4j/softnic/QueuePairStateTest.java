// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The states of a queue pair: what leads from one to another, what may be posted, what is flushed. */
class QueuePairStateTest {
    private final Pair pair;

    QueuePairStateTest() throws Exception {
        pair = new Pair();
    }

    private QueuePair fresh() throws RdmaException {
        return pair.a.node.queuePair(pair.a.completionQueue, QueuePairCapabilities.ofDepth(4, 4));
    }

    private static QueuePairAttributes to(QueuePairState state) {
        return new QueuePairAttributes().state(state);
    }

    private static QueuePairAttributes toInit() {
        return to(QueuePairState.INIT).port(1).pkeyIndex(0).accessFlags(Set.of());
    }

    private static void assertRefused(ThrowingCallable call, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .withMessageContainingAll(words);
    }

    // ---------------------------------------------------------------- transitions

    @Test
    void missingAttributesAreNamed() throws Exception {
        QueuePair queuePair = fresh();
        assertRefused(() -> queuePair.modify(to(QueuePairState.INIT).port(1)), Errno.EINVAL,
                "RESET to INIT", "lacks", "PKEY_INDEX (pkey_index)", "ACCESS_FLAGS");
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
    }

    @Test
    void forbiddenAttributesAreNamed() throws Exception {
        QueuePair queuePair = fresh();
        assertRefused(() -> queuePair.modify(toInit().sendPsn(1)), Errno.EINVAL,
                "does not take", "SEND_PSN (sq_psn)");
    }

    @Test
    void impossibleTransitionsNameThePossibleOnes() throws Exception {
        QueuePair queuePair = fresh();
        assertRefused(() -> queuePair.modify(to(QueuePairState.RTS)), Errno.EINVAL,
                "from RESET to RTS", "it may go to", "INIT");
    }

    @Test
    void wrongCurrentStateIsNoticed() throws Exception {
        QueuePair queuePair = fresh();
        assertRefused(
                () -> queuePair.modify(to(QueuePairState.RESET).currentState(QueuePairState.RTS)),
                Errno.EINVAL, "RESET", "RTS", "CURRENT_STATE");
    }

    @Test
    void valuesTheDeviceCannotGiveAreRefused() throws Exception {
        QueuePair queuePair = fresh();
        assertRefused(() -> queuePair.modify(toInit().port(2)), Errno.EINVAL, "port_num", "2");
        assertRefused(() -> queuePair.modify(toInit().pkeyIndex(1)), Errno.EINVAL, "pkey_index");
        queuePair.modify(toInit());
        assertRefused(() -> queuePair.modify(toRtr(1).maxDestinationReadAtomic(129)), Errno.EINVAL,
                "max_dest_rd_atomic", "128");
        assertRefused(() -> queuePair.modify(toRtr(7)), Errno.EINVAL, "sgid_index 7", "empty");
        assertRefused(() -> queuePair.modify(toRtr(0)), Errno.EINVAL, "sgid_index 0");
        assertRefused(
                () -> queuePair
                        .modify(toRtr(1).addressVector(AddressHandleAttributes.to(Gid.ZERO, 1))),
                Errno.EINVAL, "dgid");
        assertRefused(
                () -> queuePair.modify(toRtr(1).addressVector(AddressHandleAttributes
                        .to(Gid.parse("fe80000000000000505400fffe770001"), 1))),
                Errno.EINVAL, "IP version");
        assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
        queuePair.modify(toRtr(1));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
    }

    private QueuePairAttributes toRtr(int gidIndex) {
        return to(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(pair.b.node.nic.gids().get(1), gidIndex))
                .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(5).receivePsn(7)
                .maxDestinationReadAtomic(1).minRnrTimerCode(3);
    }

    @Test
    void alternatePathsAreRefusedClearly() throws Exception {
        QueuePair queuePair = fresh();
        queuePair.modify(toInit());
        assertRefused(
                () -> queuePair.modify(toRtr(1).alternatePath(
                        AddressHandleAttributes.to(pair.b.node.nic.gids().get(1), 1))),
                Errno.EOPNOTSUPP, "alternate");
    }

    @Test
    void queryTellsWhatWasSet() throws Exception {
        QueuePairAttributes attributes = pair.a.queuePair.query();
        assertThat(attributes.state()).isEqualTo(QueuePairState.RTS);
        assertThat(attributes.pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(attributes.destinationQueuePairNumber()).isEqualTo(pair.b.queuePair.number());
        assertThat(attributes.ackTimeoutExponent()).isEqualTo(14);
        assertThat(attributes.sendPsn()).isEqualTo(Pair.FIRST_PSN);
        assertThat(attributes.capabilities().maxSendRequests()).isEqualTo(Pair.DEPTH);
        pair.a.write(1, 2500);
        pair.settle();
        assertThat(pair.a.queuePair.query().sendPsn()).isEqualTo(1);
        assertThat(pair.b.queuePair.query().receivePsn()).isEqualTo(1);
        assertThat(fresh().query().isSet(QueuePairAttribute.PATH_MTU)).isFalse();
    }

    // ---------------------------------------------------------------- posting

    @ParameterizedTest
    @EnumSource(value = QueuePairState.class, names = {"RESET", "INIT", "RTR"})
    void sendsAreRefusedBeforeRts(QueuePairState state) throws Exception {
        QueuePair queuePair = fresh();
        if (state != QueuePairState.RESET) {
            queuePair.modify(toInit());
        }
        if (state == QueuePairState.RTR) {
            queuePair.modify(toRtr(1));
        }
        assertRefused(() -> queuePair.postSend(new SendWorkRequest()), Errno.EINVAL, "state",
                state.name(), "RTS");
    }

    @Test
    void receivesAreRefusedInResetOnly() throws Exception {
        QueuePair queuePair = fresh();
        assertRefused(() -> queuePair.postReceive(new ReceiveWorkRequest()), Errno.EINVAL, "RESET",
                "INIT");
        queuePair.modify(toInit());
        queuePair.postReceive(new ReceiveWorkRequest());
    }

    @Test
    void fullQueuesAreRefusedAndKeepWhatTheyHold() throws Exception {
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.b.receive(i, 100);
        }
        assertRefused(() -> pair.b.receive(99, 100), Errno.ENOMEM, "full", "16");
        pair.simulation.network.loseIf(packet -> true);
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.a.send(i, 100);
        }
        assertRefused(() -> pair.a.send(99, 100), Errno.ENOMEM, "full", "16");
        pair.simulation.network.loseIf(null);
        pair.settle();
        assertThat(pair.a.completions).hasSize(Pair.DEPTH).allMatch(WorkCompletion::isSuccess);
        assertThat(pair.b.completions).hasSize(Pair.DEPTH).allMatch(WorkCompletion::isSuccess);
    }

    @Test
    void listIsPostedUpToTheRequestThatIsRefused() throws Exception {
        SendWorkRequest good = pair.a.request(1)
                .write(pair.b.region.address(), pair.b.region.rkey()).add(pair.a.region, 0, 10);
        SendWorkRequest bad = pair.a.request(2).send().add(pair.a.region, 0, 1)
                .add(pair.a.region, 0, 1).add(pair.a.region, 0, 1);
        assertThatExceptionOfType(PostException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(List.of(good, good, bad, good)))
                .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(2))
                .withMessageContainingAll("3 elements", "2");
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "1 SUCCESS");
    }

    @Test
    void requestsThatDoNotFitAreRefused() throws Exception {
        assertRefused(
                () -> pair.a.queuePair.postSend(new SendWorkRequest()
                        .inline(MemorySegment.ofArray(new byte[33]))),
                Errno.EINVAL, "33", "32", "inline");
        assertRefused(
                () -> pair.a.queuePair.postSend(new SendWorkRequest().read(0, 0)
                        .inline(MemorySegment.ofArray(new byte[3]))),
                Errno.EINVAL, "READ", "inline");
        assertRefused(
                () -> pair.a.queuePair.postSend(new SendWorkRequest().add(0, (1L << 31) + 1, 0)),
                Errno.EMSGSIZE, "2147483649", "2147483648");
    }

    // ---------------------------------------------------------------- the error state, and back

    @Test
    void errorStateFlushesBothQueuesInOrder() throws Exception {
        pair.simulation.network.loseIf(packet -> true);
        pair.a.receive(10, 100);
        pair.a.receive(11, 100);
        pair.a.write(1, 100);
        pair.a.write(2, 100);
        pair.a.queuePair.modify(to(QueuePairState.ERR));
        pair.a.takeCompletions();
        pair.a.assertCompleted("1 WORK_REQUEST_FLUSHED", "2 WORK_REQUEST_FLUSHED",
                "10 WORK_REQUEST_FLUSHED", "11 WORK_REQUEST_FLUSHED");
    }

    @Test
    void whatIsPostedInTheErrorStateIsFlushed() throws Exception {
        pair.a.queuePair.modify(to(QueuePairState.ERR));
        pair.a.send(1, 100);
        pair.a.receive(2, 100);
        pair.settle();
        pair.a.assertCompleted("1 WORK_REQUEST_FLUSHED", "2 WORK_REQUEST_FLUSHED");
    }

    @Test
    void resetForgetsOutstandingWorkAndTheQueuePairCanBeUsedAgain() throws Exception {
        pair.simulation.network.loseIf(packet -> true);
        pair.a.receive(10, 100);
        pair.a.write(1, 5000);
        pair.run(100_000);
        pair.simulation.network.loseIf(null);
        pair.a.queuePair.modify(to(QueuePairState.RESET));
        pair.b.queuePair.modify(to(QueuePairState.RESET));
        pair.connect(new Pair.Settings());
        pair.a.write(2, 5000);
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.a.receive(i, 100);
        }
    }

    @Test
    void sendQueueDrainsAndGoesOnAfterwards() throws Exception {
        pair.simulation.network.loseIf(packet -> packet.opcode().isResponse());
        pair.a.write(1, 100);
        pair.run(10_000);
        pair.a.queuePair.modify(to(QueuePairState.SQD).enableSqdAsyncNotify(true));
        pair.a.write(2, 100);
        pair.run(1_000_000);
        pair.a.assertCompleted();
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        try (AsyncEvent event = pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED);
            assertThat(event.queuePair()).isSameAs(pair.a.queuePair);
        }
        pair.a.queuePair.modify(to(QueuePairState.RTS));
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
    }

    @Test
    void overrunOfACompletionQueueFailsItsQueuePairsAndIsReported() throws Exception {
        CompletionQueue small = pair.a.node.context.createCompletionQueue(2);
        Pair.Side sender = pair.new Side(pair.simulation.a, small);
        Pair.Side receiver = pair.new Side(pair.simulation.b);
        sender.connect(receiver, new Pair.Settings());
        receiver.connect(sender, new Pair.Settings());
        for (int i = 0; i < 4; i++) {
            sender.write(i, 10);
        }
        pair.settle();
        assertThat(sender.queuePair.state()).isEqualTo(QueuePairState.ERR);
        try (AsyncEvent event = pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(AsyncEventType.CQ_ERROR);
            assertThat(event.completionQueue()).isSameAs(small);
        }
        assertThat(small.poll(WorkCompletion.array(4))).isEqualTo(2);
        assertRefused(() -> small.poll(new WorkCompletion()), Errno.EIO, "overran", "2");
        pair.a.write(9, 100);
        pair.settle();
        pair.a.assertCompleted("9 SUCCESS");
    }

    // ---------------------------------------------------------------- the end

    @Test
    void closedQueuePairRefusesEverything() throws Exception {
        pair.a.queuePair.close();
        pair.a.queuePair.close();
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> pair.a.send(1, 10))
                .withMessageContaining("closed");
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> pair.a.receive(1, 10));
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> pair.a.queuePair.modify(to(QueuePairState.RESET)));
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> pair.a.queuePair.query());
    }

    @Test
    void parentsCannotBeClosedBeforeTheirChildren() throws Exception {
        assertRefused(() -> pair.a.completionQueue.close(), Errno.EBUSY, "1 queue pair");
        assertRefused(() -> pair.a.node.domain.close(), Errno.EBUSY, "1 memory region",
                "1 queue pair");
        assertRefused(() -> pair.a.node.context.close(), Errno.EBUSY, "1 completion queue",
                "1 protection domain");
        pair.a.write(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void accessRightsCanChangeWhileWorking() throws Exception {
        pair.b.queuePair.modify(to(QueuePairState.RTS).accessFlags(AccessFlag.REMOTE_READ));
        pair.a.read(1, 100);
        pair.a.write(2, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 REMOTE_ACCESS_ERROR");
    }
}
