package io.rdma4j.testkit;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Queue pairs: created in both ways and with first attributes, asked, modified. */
public abstract class QueuePairConformance extends Conformance {
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
            attributes.sendOperations(SendOpcode.SEND, SendOpcode.SEND_WITH_IMMEDIATE);
        }
        QueuePair queuePair = keep(domain.createQueuePair(attributes));
        assertThat(queuePair.type()).isEqualTo(type);
        assertThat(queuePair.number()).isBetween(2, 0xffffff);
        assertThat(queuePair.protectionDomain()).isSameAs(domain);
        assertThat(queuePair.sendCompletionQueue()).isSameAs(queue);
        assertThat(queuePair.receiveCompletionQueue()).isSameAs(queue);
        if (isExtended) {
            assertThat(queuePair.extended().queuePair()).isSameAs(queuePair);
        }
        return queuePair;
    }

    /** iWARP has no state before INIT. */
    private QueuePairState first() throws RdmaException {
        return device().nodeType() == NodeType.RNIC
                ? QueuePairState.INIT
                : QueuePairState.RESET;
    }

    private void assertCreated(QueuePairType type, boolean isExtended) throws RdmaException {
        assertThat(create(type, isExtended).state()).isEqualTo(first());
    }

    private void assertCreatedWithAttributes(QueuePairType type, boolean isExtended)
            throws RdmaException {
        QueuePair queuePair = create(type, isExtended);
        if (type != QueuePairType.UD) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT)
                    .port(Player.PORT).pkeyIndex(0).accessFlags(Set.of()));
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

    @ConformanceCase(file = "test_qp", name = "create_rc_qp_no_attr")
    void reliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.RC, false);
    }

    @ConformanceCase(file = "test_qp", name = "create_uc_qp_no_attr")
    void unreliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UC, false);
    }

    @ConformanceCase(file = "test_qp", name = "create_ud_qp_no_attr")
    void datagramQueuePairIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UD, false);
    }

    @ConformanceCase(file = "test_qp", name = "create_rc_qp_with_attr")
    void reliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.RC, false);
    }

    @ConformanceCase(file = "test_qp", name = "create_uc_qp_with_attr")
    void unreliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UC, false);
    }

    @ConformanceCase(file = "test_qp", name = "create_ud_qp_with_attr")
    void datagramQueuePairGoesToRts() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UD, false);
    }

    @ConformanceCase(file = "test_qp", name = "create_rc_qp_ex_no_attr")
    void extendedReliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.RC, true);
    }

    @ConformanceCase(file = "test_qp", name = "create_uc_qp_ex_no_attr")
    void extendedUnreliableConnectionIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UC, true);
    }

    @ConformanceCase(file = "test_qp", name = "create_ud_qp_ex_no_attr")
    void extendedDatagramQueuePairIsCreatedInItsFirstState() throws RdmaException {
        assertCreated(QueuePairType.UD, true);
    }

    @ConformanceCase(file = "test_qp", name = "create_rc_qp_ex_with_attr")
    void extendedReliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.RC, true);
    }

    @ConformanceCase(file = "test_qp", name = "create_uc_qp_ex_with_attr")
    void extendedUnreliableConnectionGoesToInit() throws RdmaException {
        assertCreatedWithAttributes(QueuePairType.UC, true);
    }

    @ConformanceCase(file = "test_qp", name = "create_ud_qp_ex_with_attr")
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

    @ConformanceCase(file = "test_qp", name = "query_rc_qp")
    void reliableConnectionKnowsItsSizes() throws RdmaException {
        assertKnowsItsSizes(QueuePairType.RC);
    }

    @ConformanceCase(file = "test_qp", name = "query_uc_qp")
    void unreliableConnectionKnowsItsSizes() throws RdmaException {
        assertKnowsItsSizes(QueuePairType.UC);
    }

    @ConformanceCase(file = "test_qp", name = "query_ud_qp")
    void datagramQueuePairKnowsItsSizes() throws RdmaException {
        assertKnowsItsSizes(QueuePairType.UD);
    }

    @ConformanceCase(file = "test_qp", name = "query_data_in_order")
    void queuePairTellsWhetherDataArrivesInOrder() throws RdmaException {
        QueuePair queuePair = create(QueuePairType.UD, false);
        bringUp(queuePair, Player.QKEY, 0);
        boolean isInOrder = queuePair.isDataInOrder(SendOpcode.SEND);
        assertThat(queuePair.isDataInOrder(SendOpcode.SEND)).isEqualTo(isInOrder);
    }

    // ---------------------------------------------------------------- modifying

    @ConformanceCase(file = "test_qp", name = "modify_ud_qp")
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
    }

    @ConformanceCase(file = "test_qp", name = "create_ud_qp_with_privileged_qkey")
    void privilegedQkeyIsKept() throws RdmaException {
        for (boolean isExtended : new boolean[]{false, true}) {
            QueuePair queuePair = create(QueuePairType.UD, isExtended);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT)
                    .port(Player.PORT).pkeyIndex(0).qkey(0x8000_0000));
            assertThat(queuePair.query().qkey()).isEqualTo(0x8000_0000);
        }
    }

    @ConformanceCase(file = "test_qp", name = "modify_rc_qp_rd_atomic")
    void asManyReadsAsAskedForAreGranted() throws RdmaException {
        Players players = players(new PlayerSettings().with(own -> own.readAtomic = 12));
        QueuePairAttributes known = players.server.queuePair.query();
        assertThat(known.maxReadAtomic()).isGreaterThanOrEqualTo(12);
        assertThat(known.maxDestinationReadAtomic()).isGreaterThanOrEqualTo(12);
    }
}
