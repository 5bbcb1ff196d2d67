// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** What becomes of requests that were given wrongly, and which of a list it was. */
class PostErrorTest {
    private final Pair pair;

    PostErrorTest() throws Exception {
        pair = new Pair();
    }

    private static MemorySegment closedSegment() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(8);
        }
    }

    private SendWorkRequest write(long id) {
        return pair.a.request(id).write(pair.b.region.address(), pair.b.region.rkey())
                .add(pair.a.region, 0, 10);
    }

    /** A list as a caller may have it that forgot to fill a place. */
    @SuppressWarnings("NullAway")
    private static <T> List<T> list(T first, @Nullable T second, T third) {
        return Arrays.asList(first, second, third);
    }

    private static void assertSecondIsRefused(ThrowingCallable post, Errno errno, String message) {
        assertThatExceptionOfType(PostException.class).isThrownBy(post)
                .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(1))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno)).withMessage(message);
    }

    @Test
    void nullInAListOfSendsIsNamedByItsIndex() throws Exception {
        assertSecondIsRefused(() -> pair.a.queuePair.postSend(list(write(1), null, write(3))),
                Errno.EINVAL, "post send: request 1 of the list was refused: it is null (EINVAL)");
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void closedInlineDataInAListIsNamedByItsIndex() throws Exception {
        SendWorkRequest closed = pair.a.request(2)
                .write(pair.b.region.address(), pair.b.region.rkey()).inline(closedSegment());
        assertSecondIsRefused(() -> pair.a.queuePair.postSend(List.of(write(1), closed, write(3))),
                Errno.EFAULT, "post send: request 1 of the list was refused: the inline data cannot"
                        + " be read: its arena is closed (EFAULT)");
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void inlineDataOfAnotherThreadInAListIsNamedByItsIndex() throws Exception {
        MemorySegment[] foreign = new MemorySegment[1];
        Thread owner = Thread.ofPlatform()
                .start(() -> foreign[0] = Arena.ofConfined().allocate(8));
        owner.join();
        SendWorkRequest closed = pair.a.request(2)
                .write(pair.b.region.address(), pair.b.region.rkey()).inline(foreign[0]);
        assertSecondIsRefused(() -> pair.a.queuePair.postSend(List.of(write(1), closed, write(3))),
                Errno.EFAULT, "post send: request 1 of the list was refused: the inline data cannot"
                        + " be read: its arena is confined to another thread (EFAULT)");
    }

    private static void assertUnreadable(ThrowingCallable post) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(post)
                .withMessage(
                        "post send: the inline data cannot be read: its arena is closed (EFAULT)");
    }

    @Test
    void closedInlineDataOfOneRequestIsRefusedAndLeavesNothingBehind() throws Exception {
        assertUnreadable(
                () -> pair.a.queuePair.postSend(write(1).clear().inline(closedSegment())));
        pair.a.queuePair.postSend(write(2));
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
    }

    @Test
    void closedInlineDataRefusesTheWholeBatch() throws Exception {
        QueuePair queuePair = pair.a.node.domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(pair.a.completionQueue).sendOperations(SendOpcode.RDMA_WRITE)
                .capabilities(QueuePairCapabilities.ofDepth(4, 4).withInlineData(64)));
        Pair.Side a = pair.new Side(pair.a.node, pair.a.completionQueue, queuePair);
        Pair.Side b = pair.new Side(pair.simulation.b);
        a.connect(b, new Pair.Settings());
        b.connect(a, new Pair.Settings());
        SendBatch batch = queuePair.startBatch();
        batch.id(1).flags(SendFlag.SIGNALED).write(b.region.address(), b.region.rkey())
                .inline(MemorySegment.ofArray(new byte[]{1, 2})).inline(closedSegment());
        assertUnreadable(batch::post);
        queuePair.startBatch();
        batch.id(2).flags(SendFlag.SIGNALED).write(b.region.address(), b.region.rkey())
                .add(a.region, 0, 8);
        batch.post();
        pair.settle();
        a.takeCompletions();
        a.assertCompleted();
        pair.a.assertCompleted("2 SUCCESS");
    }

    @Test
    @SuppressWarnings("NullAway")
    void inlineDataAndOperationMustBeGiven() throws Exception {
        assertThatNullPointerException()
                .isThrownBy(() -> new SendWorkRequest().send().inline(null))
                .withMessageContaining("data");
        assertThatNullPointerException().isThrownBy(() -> new SendWorkRequest().opcode(null))
                .withMessageContaining("opcode");
    }

    @Test
    void closedHandleInAListIsNamedByItsIndex() throws Exception {
        Pair datagrams = Pair.of(QueuePairType.UD);
        AddressHandle handle = datagrams.a.node.domain.createAddressHandle(
                AddressHandleAttributes.to(datagrams.b.node.nic.gids().get(1), 1));
        AddressHandle closed = datagrams.a.node.domain.createAddressHandle(handle.attributes());
        closed.close();
        SendWorkRequest good = datagrams.a.request(1).send().add(datagrams.a.region, 0, 8)
                .to(handle, datagrams.b.queuePair.number(), 1);
        SendWorkRequest bad = datagrams.a.request(2).send().add(datagrams.a.region, 0, 8)
                .to(closed, datagrams.b.queuePair.number(), 1);
        assertSecondIsRefused(() -> datagrams.a.queuePair.postSend(List.of(good, bad, good)),
                Errno.EBADF, "post send: request 1 of the list was refused: the address handle is"
                        + " closed (EBADF)");
        datagrams.settle();
        datagrams.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void nullInAListOfReceivesIsNamedByItsIndex() throws Exception {
        ReceiveWorkRequest good = new ReceiveWorkRequest().id(1).add(pair.b.region, 0, 8);
        assertSecondIsRefused(() -> pair.b.queuePair.postReceive(list(good, null, good)),
                Errno.EINVAL,
                "post receive: request 1 of the list was refused: it is null (EINVAL)");
    }

    @Test
    void nullInAListForASharedQueueIsNamedByItsIndex() throws Exception {
        SharedReceiveQueue shared = pair.b.node.domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4));
        ReceiveWorkRequest good = new ReceiveWorkRequest().id(1).add(pair.b.region, 0, 8);
        assertSecondIsRefused(() -> shared.post(list(good, null, good)), Errno.EINVAL,
                "post receive: request 1 of the list was refused: it is null (EINVAL)");
    }

    @Test
    void listIsRefusedInOneSentenceWithOneError() {
        SendWorkRequest bad = pair.a.request(2).send().add(pair.a.region, 0, 1)
                .add(pair.a.region, 0, 1).add(pair.a.region, 0, 1);
        assertSecondIsRefused(() -> pair.a.queuePair.postSend(List.of(write(1), bad)),
                Errno.EINVAL, "post send: request 1 of the list was refused: the request has 3"
                        + " elements; the queue pair was created for 2 (EINVAL)");
    }

    @Test
    void listForAClosedQueuePairIsToldSo() throws Exception {
        pair.a.queuePair.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(List.of(write(1))))
                .withMessage("use queue pair: the queue pair is closed (EBADF)");
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(
                        () -> pair.a.queuePair.postReceive(List.of(new ReceiveWorkRequest())))
                .withMessage("use queue pair: the queue pair is closed (EBADF)");
    }

    @Test
    void tooMuchInlineDataSaysHowToSendIt() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair
                        .postSend(write(1).inline(MemorySegment.ofArray(new byte[33]))))
                .withMessageContainingAll("33", "32", "withInlineData", "region");
    }

    @Test
    void closedQueuePairHasNoState() throws Exception {
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.RTS);
        pair.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        pair.a.queuePair.close();
        assertThatIllegalStateException().isThrownBy(() -> pair.a.queuePair.state())
                .withMessage("the queue pair is closed");
    }
}
