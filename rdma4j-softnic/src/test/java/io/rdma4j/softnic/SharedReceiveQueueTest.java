// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.Objects;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Receives that several queue pairs share. */
class SharedReceiveQueueTest {
    private final Pair pair;
    private final SharedReceiveQueue shared;

    SharedReceiveQueueTest() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.hasSharedReceives = true;
        pair = new Pair(settings);
        shared = Objects.requireNonNull(pair.b.sharedReceives);
    }

    private @Nullable AsyncEvent event() throws RdmaException {
        return pair.b.node.context.asyncEventChannel().pollEvent(Duration.ZERO);
    }

    @Test
    void messagesUseUpSharedReceivesInOrder() throws Exception {
        pair.b.receive(10, 5000);
        pair.b.receive(11, 5000);
        pair.a.send(1, 5000);
        pair.a.send(2, 10);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        pair.b.assertCompleted("10 SUCCESS", "11 SUCCESS");
    }

    @Test
    void receiveSizesOfTheQueuePairAreIgnored() throws Exception {
        QueuePairCapabilities beyondAllLimits = new QueuePairCapabilities(4, 1 << 30, 1, 1 << 20,
                0);
        try (QueuePair queuePair = pair.b.node.domain.createQueuePair(
                new QueuePairInitAttributes().completionQueue(pair.b.completionQueue)
                        .sharedReceiveQueue(shared).capabilities(beyondAllLimits))) {
            QueuePairCapabilities none = new QueuePairCapabilities(4, 0, 1, 0, 0);
            assertThat(queuePair.capabilities()).isEqualTo(none);
            assertThat(queuePair.initAttributes().capabilities()).isEqualTo(none);
            assertThat(queuePair.query().capabilities()).isEqualTo(none);
        }
    }

    @Test
    void senderWaitsUntilAReceiveIsPosted() throws Exception {
        pair.a.send(1, 10);
        pair.run(Pair.SECOND / 100);
        assertThat(counted(pair.b.queuePair, Counter.SEND_RNR_ERR)).isPositive();
        pair.b.receive(10, 10);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("10 SUCCESS");
    }

    @Test
    void fullQueueAndTooManyElementsAreRefused() throws Exception {
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.b.receive(i, 10);
        }
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> pair.b.receive(99, 10))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
        ReceiveWorkRequest wide = new ReceiveWorkRequest().add(0, 1, 0).add(0, 1, 0).add(0, 1, 0);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> shared.post(wide))
                .withMessageContaining("3 elements");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair.postReceive(new ReceiveWorkRequest()))
                .withMessageContaining("shared receive queue");
    }

    @Test
    void limitIsReportedOnceWhenItIsReached() throws Exception {
        for (int i = 0; i < 10; i++) {
            pair.b.receive(i, 10);
        }
        shared.arm(7);
        assertThat(shared.query())
                .isEqualTo(new SharedReceiveQueueAttributes(Pair.DEPTH, 2, 7));
        for (int i = 0; i < 3; i++) {
            pair.a.send(i, 10);
        }
        pair.settle();
        assertThat(event()).isNull();
        pair.a.send(3, 10);
        pair.a.send(4, 10);
        pair.settle();
        try (AsyncEvent reached = Objects.requireNonNull(event())) {
            assertThat(reached.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
            assertThat(reached.sharedReceiveQueue()).isEqualTo(shared);
        }
        assertThat(event()).isNull();
        assertThat(shared.query().limit()).isZero();
    }

    @Test
    void resizingKeepsWhatIsPosted() throws Exception {
        for (int i = 0; i < 5; i++) {
            pair.b.receive(i, 10);
        }
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> shared.resize(4))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining("5 requests");
        shared.resize(100);
        for (int i = 5; i < 100; i++) {
            pair.b.receive(i, 10);
        }
        assertThat(shared.query().maxRequests()).isEqualTo(100);
        for (int i = 0; i < 100; i++) {
            pair.a.send(i, 10);
            pair.settle();
            pair.a.assertCompleted(i + " SUCCESS");
            pair.b.assertCompleted(i + " SUCCESS");
        }
    }

    @Test
    void failedQueuePairLeavesTheReceivesToOthersAndSaysSo() throws Exception {
        pair.b.receive(10, 10);
        pair.b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        pair.settle();
        assertThat(pair.b.completions).isEmpty();
        try (AsyncEvent last = Objects.requireNonNull(event())) {
            assertThat(last.type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
        }
        assertThat(event()).isNull();
    }

    @Test
    void queueCannotBeClosedBeforeItsQueuePairsOrItsEvents() throws Exception {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(shared::close)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                .withMessageContaining("1 queue pair");
        pair.b.queuePair.close();
        shared.arm(1);
        AsyncEvent reached = Objects.requireNonNull(event());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(shared::close)
                .withMessageContaining("not acknowledged");
        reached.acknowledge();
        shared.close();
        shared.close();
    }

    @Test
    void postedReceiveIsAnnouncedToTheSenderThatWaits() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.hasSharedReceives = true;
        settings.minRnrTimer = 0; // 655 ms
        Pair slow = new Pair(settings);
        slow.a.send(1, 10);
        slow.run(Pair.SECOND / 100);
        slow.b.receive(10, 10);
        slow.run(Pair.SECOND / 100);
        slow.a.assertCompleted("1 SUCCESS");
    }
}
