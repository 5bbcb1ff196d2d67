// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Queue pairs: created in both ways and with first attributes, asked, modified. */
public abstract class QueuePairConformance extends Conformance {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(13, 17, 2, 3, 24);

    /** Called by subclasses. */
    protected QueuePairConformance() {}

    // ---------------------------------------------------------------- creating

    private QueuePair create(QueuePairType type, boolean isExtended) throws RdmaException {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        CompletionQueue queue = keep(context.createCompletionQueue(100));
        QueuePairInitAttributes attributes = new QueuePairInitAttributes().type(type)
                .completionQueue(queue).capabilities(SIZES);
        if (isExtended) {
            attributes.sendOperations(SendOpcode.SEND,
                    isIwarp() ? SendOpcode.RDMA_WRITE : SendOpcode.SEND_WITH_IMMEDIATE);
        }
        QueuePair queuePair = keep(domain.createQueuePair(attributes));
        assertThat(queuePair.type()).isEqualTo(type);
        // InfiniBand keeps 0 and 1 for management; an RNIC has no such queue pairs.
        assertThat(queuePair.number()).isBetween(isIwarp() ? 1 : 2, 0xffffff);
        assertThat(queuePair.protectionDomain()).isSameAs(domain);
        assertThat(queuePair.sendCompletionQueue()).isSameAs(queue);
        assertThat(queuePair.receiveCompletionQueue()).isSameAs(queue);
        if (isExtended) {
            try (SendBatch batch = queuePair.startBatch()) {
                assertThat(batch.queuePair()).isSameAs(queuePair);
            }
        }
        return queuePair;
    }

    /** iWARP has no state before INIT. */
    private QueuePairState first() {
        return isIwarp() ? QueuePairState.INIT : QueuePairState.RESET;
    }

    private void assertCreated(QueuePairType type, boolean isExtended) throws RdmaException {
        assertThat(create(type, isExtended).state()).isEqualTo(first());
    }

    private void assertCreatedWithAttributes(QueuePairType type, boolean isExtended)
            throws RdmaException {
        QueuePair queuePair = create(type, isExtended);
        if (type != QueuePairType.UD) {
            QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                    .accessFlags(Set.of());
            queuePair.modify(
                    first() == QueuePairState.INIT ? init : init.port(Player.PORT).pkeyIndex(0));
            assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
            return;
        }
        bringUp(queuePair, Player.QKEY, 0);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    private static void bringUp(QueuePair queuePair, int qkey, int psn) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(Player.PORT)
                .pkeyIndex(0).qkey(qkey));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(psn));
    }

    @ConformanceCase(after = "test_qp.create_rc_qp_no_attr")
    void reliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.RC, false);
    }

    @ConformanceCase(after = "test_qp.create_uc_qp_no_attr")
    void unreliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UC, false);
    }

    @ConformanceCase(after = "test_qp.create_ud_qp_no_attr")
    void datagramQueuePairIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UD, false);
    }

    @ConformanceCase(after = "test_qp.create_rc_qp_with_attr")
    void reliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.RC, false);
    }

    @ConformanceCase(after = "test_qp.create_uc_qp_with_attr")
    void unreliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UC, false);
    }

    @ConformanceCase(after = "test_qp.create_ud_qp_with_attr")
    void datagramQueuePairGoesToRts() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UD, false);
    }

    @ConformanceCase(after = "test_qp.create_rc_qp_ex_no_attr")
    void extendedReliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.RC, true);
    }

    @ConformanceCase(after = "test_qp.create_uc_qp_ex_no_attr")
    void extendedUnreliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UC, true);
    }

    @ConformanceCase(after = "test_qp.create_ud_qp_ex_no_attr")
    void extendedDatagramQueuePairIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UD, true);
    }

    @ConformanceCase(after = "test_qp.create_rc_qp_ex_with_attr")
    void extendedReliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.RC, true);
    }

    @ConformanceCase(after = "test_qp.create_uc_qp_ex_with_attr")
    void extendedUnreliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UC, true);
    }

    @ConformanceCase(after = "test_qp.create_ud_qp_ex_with_attr")
    void extendedDatagramQueuePairGoesToRts() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UD, true);
    }

    // ---------------------------------------------------------------- asking

    private void assertKnowsItsSizes(QueuePairType type) throws RdmaException {
        for (boolean isExtended : new boolean[]{false, true}) {
            QueuePair queuePair = create(type, isExtended);
            QueuePairAttributes known = queuePair.query();
            assertThat(known.state()).isEqualTo(first());
            assertThat(known.capabilities()).isEqualTo(queuePair.capabilities());
            assertAtLeast(known.capabilities());
            assertIsMadeFrom(queuePair.initAttributes(), queuePair, isExtended);
        }
    }

    /** What C returns beside the attributes makes another queue pair like the first. */
    private void assertIsMadeFrom(QueuePairInitAttributes attributes, QueuePair first,
            boolean isExtended) throws RdmaException {
        assertThat(attributes.capabilities()).isEqualTo(first.capabilities());
        assertThat(attributes.signalAll()).isFalse();
        QueuePair second = keep(first.protectionDomain()
                .createQueuePair(attributes.signalAll(true).userContext(this)));
        assertThat(second.type()).isEqualTo(first.type());
        assertThat(second.sendCompletionQueue()).isSameAs(first.sendCompletionQueue());
        assertThat(second.receiveCompletionQueue()).isSameAs(first.receiveCompletionQueue());
        assertThat(second.sharedReceiveQueue()).isSameAs(first.sharedReceiveQueue());
        assertThat(second.userContext()).isSameAs(this);
        assertThat(second.initAttributes().signalAll()).isTrue();
        assertThat(second.initAttributes().sendOperations() != null).isEqualTo(isExtended);
        assertThat(first.initAttributes().signalAll()).isFalse();
    }

    private static void assertAtLeast(QueuePairCapabilities given) {
        assertThat(given.maxSendRequests()).isGreaterThanOrEqualTo(SIZES.maxSendRequests());
        assertThat(given.maxReceiveRequests()).isGreaterThanOrEqualTo(SIZES.maxReceiveRequests());
        assertThat(given.maxSendElements()).isGreaterThanOrEqualTo(SIZES.maxSendElements());
        assertThat(given.maxReceiveElements()).isGreaterThanOrEqualTo(SIZES.maxReceiveElements());
        assertThat(given.maxInlineData()).isGreaterThanOrEqualTo(SIZES.maxInlineData());
    }

    @ConformanceCase(after = "test_qp.query_rc_qp")
    void reliableConnectionKnowsItsSizes() throws RdmaException {
        assertKnowsItsSizes(QueuePairType.RC);
    }

    @ConformanceCase(after = "test_qp.query_uc_qp")
    void unreliableConnectionKnowsItsSizes() throws RdmaException {
        assertKnowsItsSizes(QueuePairType.UC);
    }

    @ConformanceCase(after = "test_qp.query_ud_qp")
    void datagramQueuePairKnowsItsSizes() throws RdmaException {
        assertKnowsItsSizes(QueuePairType.UD);
    }

    @ConformanceCase(after = "test_qp.query_data_in_order")
    void queuePairSaysWhetherDataArrivesInOrder() throws RdmaException {
        Players players = players();
        Player server = players.server;
        if (!server.queuePair.isDataInOrder(SendOpcode.RDMA_WRITE)) {
            reportWithoutEffect("the device promises no order");
            return;
        }
        for (int round = 1; round <= Players.ROUNDS; round++) {
            assertArrivesInOrder(players, (byte) round);
        }
    }

    /** A thread that sees the last byte of a WRITE must find all bytes before it. */
    private static void assertArrivesInOrder(Players players, byte value) throws RdmaException {
        Player client = players.client;
        Player server = players.server;
        int length = client.settings.messageLength;
        byte[] sent = new byte[length];
        Arrays.fill(sent, value);
        client.store(Player.SEND_AT, sent);
        long write = client.post(client.work(SendOpcode.RDMA_WRITE, length));
        long lastAt = (long) Player.RECEIVE_AT + length - 1;
        long endNs = System.nanoTime() + LIMIT.toNanos();
        while ((byte) BYTE.getAcquire(server.memory, lastAt) != value) {
            assertThat(System.nanoTime() - endNs)
                    .as("the last byte does not arrive within " + LIMIT)
                    .isNegative();
            client.poll();
        }
        assertThat(server.load(Player.RECEIVE_AT, length)).isEqualTo(sent);
        client.awaitSuccess(write);
    }

    // ---------------------------------------------------------------- modifying

    @ConformanceCase(after = "test_qp.modify_ud_qp")
    void datagramQueuePairKeepsItsQkeyAndPsn() throws RdmaException {
        for (boolean isExtended : new boolean[]{false, true}) {
            QueuePair queuePair = create(QueuePairType.UD, isExtended);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT)
                    .port(Player.PORT).pkeyIndex(0).qkey(0x123));
            assertThat(queuePair.query().qkey()).isEqualTo(0x123);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
            queuePair.modify(
                    new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0x45));
            assertThat(queuePair.query().sendPsn()).isEqualTo(0x45);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
        }
        Players players = players(new PlayerSettings().type(QueuePairType.UD));
        assertOnlyFittingQkeyArrives(players, Player.QKEY, Player.QKEY + 1);
    }

    /** Sends a datagram with a wrong Q_Key and one with the right one, of which the first is dropped. */
    private static void assertOnlyFittingQkeyArrives(Players players, int right, int wrong)
            throws RdmaException {
        Player client = players.client;
        Player server = players.server;
        long receive = server.receive(1);
        for (int qkey : new int[]{wrong, right}) {
            client.store(Player.SEND_AT, new byte[]{(byte) (qkey == right ? 1 : 2)});
            long send = client.newId();
            client.queuePair.postSend(new SendWorkRequest().id(send).send()
                    .add(client.region, Player.SEND_AT, 1).set(SendFlag.SIGNALED)
                    .to(client.handle(), server.queuePair.number(), qkey));
            client.awaitSuccess(send);
        }
        server.awaitSuccess(receive);
        assertThat(server.load(Player.RECEIVE_AT + server.headerLength(), 1)).containsExactly(1);
    }

    @ConformanceCase(after = "test_qp.create_ud_qp_with_privileged_qkey")
    void privilegedQkeyIsKept() throws RdmaException {
        for (boolean isExtended : new boolean[]{false, true}) {
            QueuePair queuePair = create(QueuePairType.UD, isExtended);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT)
                    .port(Player.PORT).pkeyIndex(0).qkey(0x8000_0000));
            assertThat(queuePair.query().qkey()).isEqualTo(0x8000_0000);
        }
        // A request with a privileged Q_Key goes out with the one of its queue pair.
        Players players = players(new PlayerSettings().type(QueuePairType.UD));
        QueuePairAttributes privileged = new QueuePairAttributes().qkey(0x8000_0042);
        players.client.queuePair.modify(privileged);
        players.server.queuePair.modify(privileged);
        assertOnlyFittingQkeyArrives(players, 0x8000_0000, 0x42);
    }

    @ConformanceCase(after = "test_qp.modify_rc_qp_rd_atomic")
    void asManyReadsAsAskedForAreGranted() throws RdmaException {
        Players players = players(new PlayerSettings().with(own -> own.readAtomic = 12));
        QueuePairAttributes known = players.server.queuePair.query();
        assertThat(known.maxReadAtomic()).isGreaterThanOrEqualTo(12);
        assertThat(known.maxDestinationReadAtomic()).isGreaterThanOrEqualTo(12);

        Player client = players.client;
        byte[] bytes = {1, 2, 3, 4};
        players.server.store(Player.SEND_AT, bytes);
        long[] reads = new long[12];
        for (int i = 0; i < reads.length; i++) {
            reads[i] = client.post(client.work(SendOpcode.RDMA_READ, bytes.length)
                    .localAddress(client.region.address() + Player.RECEIVE_AT + 4L * i));
        }
        for (int i = 0; i < reads.length; i++) {
            client.awaitSuccess(reads[i]);
            assertThat(client.load(Player.RECEIVE_AT + 4L * i, bytes.length)).isEqualTo(bytes);
        }
    }

    // ---------------------------------------------------------------- posting lists

    /** C: {@code bad_wr} of {@code ibv_post_send}. */
    @ConformanceCase
    void listOfSendsEndsAtTheOneThatIsRefused() throws RdmaException {
        Players players = players();
        Player client = players.client;
        long received = players.server.receive(8);
        long first = client.newId();
        SendWorkRequest good = new SendWorkRequest().id(first).send().add(client.region, 0, 8)
                .set(SendFlag.SIGNALED);
        SendWorkRequest bad = new SendWorkRequest().id(first + 1).send();
        for (int i = 0; i <= client.queuePair.capabilities().maxSendElements(); i++) {
            bad.add(client.region, 0, 8);
        }
        assertEndsAt(() -> client.queuePair.postSend(List.of(good, bad, good)), 1);
        client.awaitSuccess(first);
        players.server.awaitSuccess(received);
        assertThat(client.queue.poll(new WorkCompletion())).isFalse();
    }

    /** C: {@code bad_wr} of {@code ibv_post_recv}. */
    @ConformanceCase
    void listOfReceivesEndsAtTheOneThatIsRefused() throws RdmaException {
        Players players = players();
        Player server = players.server;
        long first = server.newId();
        ReceiveWorkRequest good = new ReceiveWorkRequest().id(first).add(server.region, 0, 8);
        ReceiveWorkRequest bad = new ReceiveWorkRequest().id(first + 2);
        for (int i = 0; i <= server.queuePair.capabilities().maxReceiveElements(); i++) {
            bad.add(server.region, 0, 8);
        }
        assertEndsAt(() -> server.queuePair.postReceive(List.of(good, good, bad, good)), 2);
        for (int round = 0; round < 2; round++) {
            long sent = players.client.post(players.client.work(SendOpcode.SEND, 8));
            players.client.awaitSuccess(sent);
            server.awaitSuccess(first);
        }
    }

    private static void assertEndsAt(ThrowingCallable post, int index) {
        assertThat(refusalOf(post)).isInstanceOfSatisfying(PostException.class,
                refusal -> assertThat(refusal.failedIndex()).isEqualTo(index));
    }
}
