// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** No completion of a queue pair's earlier life is seen in the next one, or after it is closed; those of others stay. */
class FormerLifeTest {
    private final WorkCompletion completion = new WorkCompletion();

    private static QueuePair queuePair(ProtectionDomain domain, CompletionQueue sends,
            CompletionQueue receives) throws RdmaException {
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .sendCompletionQueue(sends).receiveCompletionQueue(receives)
                .capabilities(QueuePairCapabilities.ofDepth(4, 4)));
        begin(queuePair);
        return queuePair;
    }

    private static void begin(QueuePair queuePair) throws RdmaException {
        if (queuePair.state() == QueuePairState.RESET) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(Set.of()));
        }
    }

    /** Its receives are flushed; at least the first of them is in the queue. */
    private void failWith(int receives, QueuePair queuePair, MemoryRegion region,
            CompletionQueue queue) throws RdmaException {
        for (int i = 0; i <= receives; i++) {
            queuePair.postReceive(new ReceiveWorkRequest().id(i).add(region, 0, 64));
        }
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        Wait.until("the receives are flushed", () -> queue.poll(completion));
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void resetRemovesTheCompletionsOfTheLifeBefore(boolean isOneQueue) throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue receives = context.createCompletionQueue(16);
                CompletionQueue sends = context.createCompletionQueue(16);
                MemoryRegion region = domain.allocateRegion(64, AccessFlag.LOCAL_WRITE);
                QueuePair other = queuePair(domain, receives, receives);
                QueuePair queuePair = queuePair(domain, isOneQueue ? receives : sends, receives)) {
            failWith(1, other, region, receives);
            failWith(3, queuePair, region, receives);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            WorkCompletion[] left = WorkCompletion.array(8);
            int count = receives.poll(left);
            for (int i = 0; i < count; i++) {
                assertThat(left[i].queuePairNumber()).isEqualTo(other.number());
            }
            begin(queuePair);
            queuePair.postReceive(new ReceiveWorkRequest().id(77).add(region, 0, 64));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            Wait.until("the receive of this life is flushed", () -> receives.poll(completion));
            assertThat(completion.id()).isEqualTo(77);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce_lo", "iwarp_lo"})
    void closingRemovesThem(String device) throws Exception {
        try (DeviceContext context = RdmaDevices.find(device).open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(16);
                MemoryRegion region = domain.allocateRegion(64, AccessFlag.LOCAL_WRITE)) {
            QueuePair queuePair = queuePair(domain, queue, queue);
            failWith(3, queuePair, region, queue);
            queuePair.close();
            assertThat(queue.poll(completion)).isFalse();
        }
    }

    /** As a program does that ends a connection whose completion has failed. */
    @Test
    void queuePairMayBeClosedByTheHandlerOfItsCompletion() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(16);
                MemoryRegion region = domain.allocateRegion(64, AccessFlag.LOCAL_WRITE)) {
            QueuePair queuePair = queuePair(domain, queue, queue);
            failWith(3, queuePair, region, queue);
            assertThat(queue.poll(8, failed -> queuePair.close())).isOne();
            assertThat(queue.poll(completion)).isFalse();
        }
    }

    /** Queue pairs that come and go do not fill a queue that nobody polls meanwhile. */
    @Test
    void whatIsRemovedNeedsNoRoom() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(4);
                MemoryRegion region = domain.allocateRegion(64, AccessFlag.LOCAL_WRITE)) {
            for (int i = 0; i < 20; i++) {
                QueuePair queuePair = queuePair(domain, queue, queue);
                failWith(3, queuePair, region, queue);
                queuePair.close();
            }
            assertThat(queue.poll(completion)).isFalse();
        }
    }
}
