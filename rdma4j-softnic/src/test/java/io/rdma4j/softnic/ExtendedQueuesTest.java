// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Completion queues read in place, resized, moderated; posting piece by piece. */
class ExtendedQueuesTest {
    private final Pair pair = new Pair();
    private final CompletionChannel channel = CompletionChannel.create();
    private Pair.Side peer = pair.b;

    ExtendedQueuesTest() throws Exception {}

    private ExtendedCompletionQueue queue(CompletionQueueInitAttributes attributes)
            throws RdmaException {
        return pair.a.node.context.createExtendedCompletionQueue(attributes);
    }

    /** {@return a connected pair's first side, reporting to a queue} */
    private Pair.Side sideOn(CompletionQueue queue) throws RdmaException {
        Pair.Side a = pair.new Side(pair.simulation.a, queue);
        Pair.Side b = pair.new Side(pair.simulation.b);
        a.connect(b, new Pair.Settings());
        b.connect(a, new Pair.Settings());
        for (int i = 0; i < Pair.DEPTH; i++) {
            b.receive(i, 100);
        }
        return a;
    }

    // ---------------------------------------------------------------- completion queues

    @Test
    void batchIsReadInPlaceAndFreedAtItsEnd() throws Exception {
        ExtendedCompletionQueue queue = queue(new CompletionQueueInitAttributes().capacity(8));
        Pair.Side side = sideOn(queue);
        for (int i = 1; i <= 3; i++) {
            side.send(i, 10);
        }
        pair.settle();
        assertThat(queue.startPoll()).isTrue();
        assertThatIllegalStateException().isThrownBy(queue::startPoll);
        assertThatIllegalStateException().isThrownBy(() -> queue.poll(new WorkCompletion()));
        assertThat(queue.current().id()).isEqualTo(1);
        assertThat(queue.nextPoll()).isTrue();
        assertThat(queue.current().id()).isEqualTo(2);
        queue.endPoll();
        WorkCompletion third = new WorkCompletion();
        assertThat(queue.poll(third)).isTrue();
        assertThat(third.id()).isEqualTo(3);
        assertThat(queue.startPoll()).isFalse();
        assertThatIllegalStateException().isThrownBy(queue::current);
        assertThatIllegalStateException().isThrownBy(queue::endPoll);
    }

    @Test
    void handlerGetsAsManyAsItWantsAndWhatItThrowsLeavesTheRest() throws Exception {
        CompletionQueue queue = queue(new CompletionQueueInitAttributes().capacity(8));
        Pair.Side side = sideOn(queue);
        for (int i = 1; i <= 4; i++) {
            side.send(i, 10);
        }
        pair.settle();
        List<Long> handled = new ArrayList<>();
        assertThat(queue.poll(1, completion -> handled.add(completion.id()))).isOne();
        assertThatExceptionOfType(ArithmeticException.class)
                .isThrownBy(() -> queue.poll(8, completion -> {
                    handled.add(completion.id());
                    throw new ArithmeticException();
                }));
        FutureTask<Integer> other = new FutureTask<>(
                () -> queue.poll(8, completion -> handled.add(completion.id())));
        Thread.ofPlatform().start(other);
        assertThat(other.get(20, TimeUnit.SECONDS)).isEqualTo(2);
        assertThat(handled).containsExactly(1L, 2L, 3L, 4L);
        assertThat(queue.poll(8, completion -> handled.add(0L))).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> queue.poll(-1, completion -> handled.add(0L)));
    }

    @Test
    void completionsHaveTheirTimeWhenThatIsAskedFor() throws Exception {
        ExtendedCompletionQueue queue = queue(
                new CompletionQueueInitAttributes().fields(CompletionField.COMPLETION_TIMESTAMP,
                        CompletionField.COMPLETION_WALLCLOCK));
        Pair.Side side = sideOn(queue);
        long before = pair.a.node.context.queryClock();
        side.send(1, 10);
        pair.run(Pair.SECOND);
        WorkCompletion completion = new WorkCompletion();
        assertThat(queue.poll(completion)).isTrue();
        assertThat(completion.completionTimestamp()).isGreaterThan(before)
                .isLessThanOrEqualTo(pair.a.node.context.queryClock());
        assertThat(completion.completionWallclockNs())
                .isGreaterThan(1_600_000_000L * 1_000_000_000L);
    }

    @Test
    void resizingKeepsCompletionsAndMakesRoom() throws Exception {
        CompletionQueue queue = queue(new CompletionQueueInitAttributes().capacity(4));
        Pair.Side side = sideOn(queue);
        for (int i = 0; i < 4; i++) {
            side.send(i, 10);
        }
        pair.settle();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> queue.resize(3))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        queue.resize(12);
        assertThat(queue.capacity()).isEqualTo(12);
        for (int i = 4; i < 12; i++) {
            side.send(i, 10);
        }
        pair.settle();
        WorkCompletion[] completions = WorkCompletion.array(16);
        assertThat(queue.poll(completions)).isEqualTo(12);
        for (int i = 0; i < 12; i++) {
            assertThat(completions[i].id()).isEqualTo(i);
        }
    }

    /** {@return a side whose queue notifies after three completions, or 50 ms after one} */
    private Pair.Side moderated() throws Exception {
        CompletionQueue queue = queue(
                new CompletionQueueInitAttributes().capacity(16).channel(channel));
        queue.moderate(3, Duration.ofMillis(50));
        queue.requestNotification();
        return sideOn(queue);
    }

    private void assertNotified(Pair.Side side) throws RdmaException {
        CompletionQueue notified = Objects.requireNonNull(channel.pollEvent(Duration.ZERO));
        assertThat(notified).isEqualTo(side.queuePair.sendCompletionQueue());
        notified.acknowledgeEvents(1);
    }

    @Test
    void notificationWaitsForTheCount() throws Exception {
        Pair.Side side = moderated();
        side.send(1, 10);
        side.send(2, 10);
        pair.run(1_000_000);
        assertThat(channel.pollEvent(Duration.ZERO)).isNull();
        side.send(3, 10);
        pair.run(1_000_000);
        assertNotified(side);
    }

    @Test
    void notificationWaitsNoLongerThanThePeriod() throws Exception {
        Pair.Side side = moderated();
        side.send(1, 10);
        pair.run(10_000_000);
        assertThat(channel.pollEvent(Duration.ZERO)).isNull();
        pair.run(60_000_000);
        assertNotified(side);
    }

    @Test
    void queueThatIgnoresOverrunLosesCompletionsAndNothingElse() throws Exception {
        ExtendedCompletionQueue queue = queue(
                new CompletionQueueInitAttributes().capacity(2).ignoreOverrun(true));
        Pair.Side side = sideOn(queue);
        for (int i = 0; i < 5; i++) {
            side.send(i, 10);
        }
        pair.settle();
        WorkCompletion[] completions = WorkCompletion.array(8);
        assertThat(queue.poll(completions)).isEqualTo(2);
        side.send(9, 10);
        pair.settle();
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions[0].id()).isEqualTo(9);
    }

    @Test
    void overrunIsReportedOnceAndMustBeAcknowledgedBeforeTheQueueIsClosed() throws Exception {
        CompletionQueue queue = queue(new CompletionQueueInitAttributes().capacity(1));
        Pair.Side side = sideOn(queue);
        side.send(1, 10);
        side.send(2, 10);
        pair.settle();
        AsyncEvent overrun = next(AsyncEventType.CQ_ERROR);
        AsyncEvent failed = next(AsyncEventType.QP_FATAL);
        assertThat(pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO)).isNull();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(side.queuePair::close)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                .withMessageContaining("not acknowledged");
        failed.acknowledge();
        side.queuePair.close();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(queue::close)
                .withMessageContaining("not acknowledged");
        overrun.acknowledge();
        overrun.acknowledge();
        queue.close();
    }

    private AsyncEvent next(AsyncEventType type) throws RdmaException {
        AsyncEvent event = Objects
                .requireNonNull(pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO));
        assertThat(event.type()).isEqualTo(type);
        return event;
    }

    @Test
    void eventsThatNobodyTookVanishWithTheirObject() throws Exception {
        CompletionQueue queue = queue(new CompletionQueueInitAttributes().capacity(1));
        Pair.Side side = sideOn(queue);
        side.send(1, 10);
        side.send(2, 10);
        pair.settle();
        side.queuePair.close();
        queue.close();
        assertThat(pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO)).isNull();
    }

    // ---------------------------------------------------------------- piece by piece

    private Pair.Side extended(SendOpcode... operations) throws RdmaException {
        Pair.Side side = pair.a;
        QueuePair extended = side.node.domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(side.completionQueue).sendOperations(operations)
                .capabilities(
                        QueuePairCapabilities.ofDepth(4, 4).withElements(2, 2).withInlineData(64)));
        Pair.Side a = pair.new Side(side.node, side.completionQueue, extended);
        Pair.Side b = pair.new Side(pair.simulation.b);
        a.connect(b, new Pair.Settings());
        b.connect(a, new Pair.Settings());
        peer = b;
        return a;
    }

    @Test
    void batchIsPostedAsAWhole() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND, SendOpcode.RDMA_WRITE);
        peer.receive(10, 100);
        SendBatch batch = side.queuePair.startBatch();
        batch.id(1).flags(SendFlag.SIGNALED).write(peer.region.address(), peer.region.rkey())
                .add(side.region, 100, 30).add(side.region, 500, 30);
        batch.id(2).send().inline(MemorySegment.ofArray(new byte[]{1, 2, 3}))
                .inline(MemorySegment.ofArray(new byte[]{4}));
        pair.settle();
        assertThat(pair.a.completions).isEmpty();
        batch.post();
        pair.settle();
        side.takeCompletions();
        assertThat(pair.a.completions).extracting(WorkCompletion::id).containsExactly(1L, 2L);
        peer.takeCompletions();
        assertThat(peer.completions.getFirst().byteLength()).isEqualTo(4);
        assertThat(peer.upperByte(0)).isEqualTo((byte) 1);
        assertThat(peer.upperByte(3)).isEqualTo((byte) 4);
        assertThat(MemorySegment.mismatch(peer.memory, 30, 60, side.memory, 500, 530))
                .isEqualTo(-1);
    }

    @Test
    void abortedBatchLeavesNoTrace() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND);
        for (int round = 0; round < 10; round++) {
            try (SendBatch aborted = side.queuePair.startBatch()) {
                aborted.send().add(side.region, 0, 8);
                aborted.send().add(side.region, 0, 8);
            }
        }
        peer.receive(10, 100);
        SendBatch batch = side.queuePair.startBatch();
        batch.id(7).flags(SendFlag.SIGNALED).send().add(side.region, 0, 8);
        batch.post();
        pair.settle();
        assertThat(pair.a.completions).extracting(WorkCompletion::id).containsExactly(7L);
    }

    @Test
    void listInsideABatchPostsNothingOfIt() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND);
        SendBatch batch = side.queuePair.startBatch();
        batch.id(1).flags(SendFlag.SIGNALED).send().add(side.region, 0, 8);
        batch.id(2).flags(SendFlag.SIGNALED).send().add(side.region, 0, 8);
        assertThatIllegalStateException()
                .isThrownBy(() -> side.queuePair.postSend(List.of(side.request(3).send())))
                .withMessageContaining("in a batch");
        peer.receive(9, 100);
        pair.settle();
        assertThat(pair.a.completions).isEmpty();
        batch.close();
        peer.receive(10, 100);
        side.queuePair.startBatch();
        batch.id(7).flags(SendFlag.SIGNALED).send().add(side.region, 0, 8);
        batch.post();
        pair.settle();
        assertThat(pair.a.completions).extracting(WorkCompletion::id).containsExactly(7L);
    }

    @Test
    void oneWrongRequestRefusesTheWholeBatch() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND);
        SendBatch batch = side.queuePair.startBatch();
        batch.id(1).flags(SendFlag.SIGNALED).send().add(side.region, 0, 8);
        batch.id(2).read(1, 2).add(side.region, 0, 8);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::post)
                .withMessageContaining("RDMA_READ");
        side.queuePair.startBatch();
        batch.send().inline(MemorySegment.ofArray(new byte[65]));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::post)
                .withMessageContaining("65").withMessageContaining("64");
        side.queuePair.startBatch();
        for (int i = 0; i < 5; i++) {
            batch.send().add(side.region, 0, 8);
        }
        assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::post)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
        pair.settle();
        assertThat(pair.a.completions).isEmpty();
    }

    @Test
    void callsOutsideABatchAreMistakes() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND);
        SendBatch batch = side.queuePair.startBatch();
        batch.close();
        batch.close();
        assertThatIllegalStateException().isThrownBy(batch::send);
        assertThatIllegalStateException().isThrownBy(batch::flags);
        assertThatIllegalStateException().isThrownBy(batch::post);
        assertThat(side.queuePair.startBatch()).isSameAs(batch);
        assertThatIllegalStateException().isThrownBy(side.queuePair::startBatch);
        assertThatIllegalStateException().isThrownBy(() -> batch.add(side.region, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> side.send(1, 1));
        batch.close();
        assertThatIllegalStateException().isThrownBy(() -> pair.a.queuePair.startBatch())
                .withMessageContaining("sendOperations");
    }

    @Test
    void operationsOfAnotherTransportCannotBeAskedFor() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.node.domain.createQueuePair(new QueuePairInitAttributes()
                        .type(QueuePairType.UD)
                        .completionQueue(pair.a.completionQueue)
                        .sendOperations(SendOpcode.RDMA_READ)))
                .withMessageContaining("RDMA_READ");
    }

    /** Otherwise all who post would wait for ever. */
    @Test
    void batchEndsWithItsBlockWhateverItsThreadThrows() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND);
        assertThatExceptionOfType(ArithmeticException.class).isThrownBy(() -> {
            try (SendBatch batch = side.queuePair.startBatch()) {
                batch.id(1).send().add(side.region, 0, 8);
                throw new ArithmeticException();
            }
        });
        assertAnotherThreadPosts(side.queuePair);
        pair.settle();
        assertThat(pair.a.completions).isEmpty();
    }

    private static void assertAnotherThreadPosts(QueuePair queuePair) throws Exception {
        FutureTask<@Nullable Void> posting = new FutureTask<>(() -> {
            queuePair.startBatch().close();
            return null;
        });
        Thread.ofPlatform().start(posting);
        posting.get(20, TimeUnit.SECONDS);
    }

    /** Which flags stand for those before, in each form. */
    @Test
    void flagsOfABatchReplaceThoseBefore() throws Exception {
        Pair.Side side = extended(SendOpcode.SEND);
        for (int message = 1; message <= 5; message++) {
            peer.receive(message, 100);
        }
        try (SendBatch batch = side.queuePair.startBatch()) {
            batch.id(1).flags(SendFlag.SIGNALED).send().add(side.region, 0, 8);
            batch.id(2).flags().send().add(side.region, 0, 8);
            batch.id(3).flags(SendFlag.SIGNALED, SendFlag.SOLICITED).send().add(side.region, 0, 8);
            batch.post();
        }
        pair.settle();
        try (SendBatch batch = side.queuePair.startBatch()) {
            batch.id(4).flags(SendFlag.SOLICITED).send().add(side.region, 0, 8);
            batch.id(5).flags(Set.of(SendFlag.SIGNALED)).send().add(side.region, 0, 8);
            batch.post();
        }
        pair.settle();
        side.takeCompletions();
        assertThat(pair.a.completions).extracting(WorkCompletion::id).containsExactly(1L, 3L, 5L);
    }

    @Test
    void batchWithAClosedHandleEndsAndLetsOthersPost() throws Exception {
        QueuePair datagrams = pair.a.node.domain.createQueuePair(new QueuePairInitAttributes()
                .type(QueuePairType.UD).completionQueue(pair.a.completionQueue)
                .sendOperations(SendOpcode.SEND));
        datagrams.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .qkey(1));
        datagrams.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        datagrams.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0));
        AddressHandle handle = pair.a.node.domain.createAddressHandle(
                AddressHandleAttributes.to(pair.b.node.nic.gids().get(1), 1));
        SendBatch batch = datagrams.startBatch();
        batch.send().add(pair.a.region, 0, 8).to(handle, 77, 1);
        handle.close();
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(batch::post)
                .withMessageContaining("address handle");
        assertAnotherThreadPosts(datagrams);
    }

    @Test
    void closedQueueAnnouncesNothingMore() throws Exception {
        CompletionQueue queue = queue(
                new CompletionQueueInitAttributes().capacity(16).channel(channel));
        Pair.Side side = sideOn(queue);
        queue.moderate(5, Duration.ofMillis(50));
        queue.requestNotification();
        side.send(1, 10);
        pair.run(1_000_000);
        side.queuePair.close();
        queue.close();
        pair.run(100_000_000);
        assertThat(channel.pollEvent(Duration.ZERO)).isNull();
    }
}
