// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DriverFaultsTest {
    private static final int SIW = 0x626d74;
    private static final int CHELSIO = 0x1425;
    private static final int CHECKSUM_OK = 4;

    private final FakeDriver driver = new FakeDriver();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    /** A queue pair of iWARP and what it belongs to. */
    private record Over(NativeContext context, CompletionChannel channel, CompletionQueue queue,
            QueuePair queuePair) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            queuePair.close();
            queue.close();
            channel.close();
        }
    }

    /** {@return a queue pair of iWARP that works, whose driver accepts what is posted, and does nothing} */
    private Over connected(int vendor, int depth, boolean isAllSignaled) throws RdmaException {
        driver.transport = TransportType.IWARP;
        driver.vendorId = vendor;
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        NativeContext context = driver.open();
        CompletionChannel channel = CompletionChannel.create();
        CompletionQueue queue = context.createCompletionQueue(16, channel);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                        .signalAll(isAllSignaled)
                        .capabilities(new QueuePairCapabilities(depth, depth, 1, 1, 0)));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        return new Over(context, channel, queue, queuePair);
    }

    private Over connected() throws RdmaException {
        return connected(SIW, 8, false);
    }

    private Over over(int vendor) throws RdmaException {
        Over made = connected(vendor, 2, false);
        made.queuePair().postSend(new SendWorkRequest().id(1).set(SendFlag.SIGNALED));
        made.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
        return made;
    }

    /** siw refuses them without a word; RoCE's may have many reasons. */
    @ParameterizedTest
    @CsvSource({"IWARP, 'iWARP has no datagrams, and so no address handles'",
        "INFINIBAND, 'RoCE needs a global route'"})
    void refusedAddressHandleIsExplainedByTheTransport(TransportType transport, String reason)
            throws Exception {
        driver.transport = transport;
        driver.library.define(VerbsSymbol.CREATE_AH, arguments -> 0);
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(
                        () -> domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 1)))
                .withMessageContaining(reason);
    }

    @Test
    void whatIsPostedTooLateForSiwIsFlushedAfterTheRest() throws Exception {
        try (Over over = over(SIW)) {
            over.queue().requestNotification();
            over.queuePair().postSend(List.of(
                    new SendWorkRequest().id(2).read(0, 1).set(SendFlag.SIGNALED)));
            over.queuePair().postReceive(new ReceiveWorkRequest().id(3));
            assertThat(driver.posted).hasSize(1);
            assertThat(over.channel().pollEvent(Duration.ofSeconds(30))).isSameAs(over.queue());
            driver.complete(Native.getLong(driver.posted.getFirst(), SendRequest.WR_ID), 5, 0);

            WorkCompletion[] found = WorkCompletion.array(4);
            assertThat(over.queue().poll(found)).isEqualTo(3);
            assertThat(List.of(found).subList(0, 3)).extracting(WorkCompletion::id)
                    .containsExactly(1L, 2L, 3L);
            assertThat(List.of(found).subList(0, 3)).extracting(WorkCompletion::status)
                    .containsOnly(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(List.of(found).subList(0, 3)).extracting(WorkCompletion::opcode)
                    .containsExactly(WorkCompletionOpcode.SEND, WorkCompletionOpcode.RDMA_READ,
                            WorkCompletionOpcode.RECEIVE);
            assertThat(found[1].queuePairNumber()).isEqualTo(over.queuePair().number());
            assertThat(over.context().ended(over.queuePair(), false)).isEqualTo(Errno.ENOTCONN);
            over.queue().acknowledgeEvents(1);
        }
    }

    @Test
    void siwHasFlushedWhenTheEndIsKnown() throws Exception {
        try (Over over = over(SIW)) {
            over.queuePair().modify(new QueuePairAttributes().state(QueuePairState.RTS));
            int before = driver.called(VerbsSymbol.MODIFY_QP);
            ((NativeQueuePair) over.queuePair()).onKernelState(QueuePairState.ERR);
            assertThat(driver.called(VerbsSymbol.MODIFY_QP)).isEqualTo(before + 1);
            assertThat(over.queuePair().state()).isEqualTo(QueuePairState.ERR);
        }
    }

    private long given(int index) {
        return Native.getLong(driver.posted.get(index), SendRequest.WR_ID);
    }

    private static List<WorkCompletion> poll(CompletionQueue queue, int most)
            throws RdmaException {
        WorkCompletion[] found = WorkCompletion.array(most);
        return List.of(found).subList(0, queue.poll(found));
    }

    /** Takes all completions. */
    private static void assertCompleted(Over over, Long... ids) throws RdmaException {
        assertThat(poll(over.queue(), 16)).extracting(WorkCompletion::id).containsExactly(ids);
    }

    private static void end(Over over) {
        ((NativeQueuePair) over.queuePair()).onKernelState(QueuePairState.ERR);
    }

    @Test
    void receivesThatSiwHasLostAreFlushedAfterItsOwnCompletions() throws Exception {
        try (Over over = connected()) {
            for (int id = 1; id <= 4; id++) {
                over.queuePair().postReceive(new ReceiveWorkRequest().id(id));
            }
            over.queue().requestNotification();
            driver.complete(given(0), 0, WorkCompletionOpcode.RECEIVE.code());
            driver.complete(given(1), WorkCompletionStatus.WORK_REQUEST_FLUSHED.code(), 0);
            assertThat(over.context().ended(over.queuePair(), true)).isNull();
            end(over);

            assertThat(over.context().ended(over.queuePair(), true)).isEqualTo(Errno.ENOTCONN);
            assertThat(over.channel().pollEvent(Duration.ofSeconds(30))).isSameAs(over.queue());
            over.queue().acknowledgeEvents(1);
            List<WorkCompletion> found = poll(over.queue(), 8);
            assertThat(found).extracting(WorkCompletion::id).containsExactly(1L, 2L, 3L, 4L);
            assertThat(found).extracting(WorkCompletion::status).containsExactly(
                    WorkCompletionStatus.SUCCESS, WorkCompletionStatus.WORK_REQUEST_FLUSHED,
                    WorkCompletionStatus.WORK_REQUEST_FLUSHED,
                    WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(found).extracting(WorkCompletion::queuePairNumber)
                    .endsWith(over.queuePair().number(), over.queuePair().number());
            assertThat(poll(over.queue(), 8)).isEmpty();
        }
    }

    @Test
    void lostRequestsFillArraysOfAnySize() throws Exception {
        try (Over over = connected()) {
            for (int id = 1; id <= 5; id++) {
                over.queuePair().postReceive(new ReceiveWorkRequest().id(id));
            }
            driver.complete(given(0), 0, WorkCompletionOpcode.RECEIVE.code());
            end(over);
            WorkCompletion one = new WorkCompletion();
            assertThat(over.queue().poll(one)).isTrue();
            assertThat(one.isSuccess()).isTrue();
            assertThat(over.queue().poll(one)).isTrue();
            assertThat(one.id()).isEqualTo(2);
            assertThat(poll(over.queue(), 2)).extracting(WorkCompletion::id)
                    .containsExactly(3L, 4L);
            assertThat(poll(over.queue(), 2)).extracting(WorkCompletion::id).containsExactly(5L);
        }
    }

    /** Of unsignaled sends before it, nobody knows whether the driver has done them. */
    @Test
    void sendsAreLostFromTheFirstSignaledOne() throws Exception {
        try (Over over = connected()) {
            over.queuePair().postSend(new SendWorkRequest().id(1).set(SendFlag.SIGNALED));
            over.queuePair().postSend(new SendWorkRequest().id(2));
            over.queuePair().postSend(new SendWorkRequest().id(3).set(SendFlag.SIGNALED));
            over.queuePair().postSend(new SendWorkRequest().id(4));
            driver.complete(given(0), 0, 0);
            end(over);
            assertCompleted(over, 1L, 3L, 4L);
            for (int id = 5; id <= 12; id++) {
                over.queuePair().postSend(new SendWorkRequest().id(id));
            }
            assertCompleted(over, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L);
        }
    }

    @Test
    void sendsThatAllCompleteAreAllLost() throws Exception {
        try (Over over = connected(SIW, 8, true)) {
            over.queuePair().postSend(new SendWorkRequest().id(1));
            over.queuePair().postSend(new SendWorkRequest().id(2));
            end(over);
            assertCompleted(over, 1L, 2L);
        }
    }

    @Test
    void requestThatIsPostedWhileTheEndBecomesKnownIsNotLost() throws Exception {
        try (Over over = connected()) {
            driver.whilePosting = () -> end(over);
            over.queuePair().postReceive(new ReceiveWorkRequest().id(1));
            assertCompleted(over, 1L);
        }
    }

    /** Else a request would be reported as lost whose success the driver reports a moment later. */
    @Test
    void endThatBecomesKnownDuringAPollCountsInTheNext() throws Exception {
        try (Over over = connected()) {
            over.queuePair().postReceive(new ReceiveWorkRequest().id(1));
            long given = given(0);
            driver.whilePolling = () -> {
                driver.whilePolling = () -> {
                    // Once.
                };
                driver.complete(given, 0, WorkCompletionOpcode.RECEIVE.code());
                end(over);
            };
            assertThat(poll(over.queue(), 8)).singleElement()
                    .satisfies(found -> assertThat(found.isSuccess()).isTrue());
        }
    }

    /** It puts the send into its queue, where it may also flush it, before the kernel refuses to look there. */
    @Test
    void sendThatSiwKeepsAlthoughItReturnsAnErrorIsPosted() throws Exception {
        try (Over over = connected()) {
            driver.postAnswer = Errno.ENOTCONN.number();
            driver.keepsRefused = true;
            over.queuePair().postSend(new SendWorkRequest().id(1).set(SendFlag.SIGNALED));
            over.queuePair().postSend(List.of(new SendWorkRequest().id(2),
                    new SendWorkRequest().id(3).set(SendFlag.SIGNALED)));
            driver.complete(given(0), WorkCompletionStatus.WORK_REQUEST_FLUSHED.code(), 0);
            end(over);
            assertCompleted(over, 1L, 2L, 3L);
        }
    }

    @Test
    void otherDriversRefuseWhatTheyAnswerWithAnError() throws Exception {
        try (Over over = over(CHELSIO)) {
            driver.postAnswer = Errno.ENOTCONN.number();
            driver.keepsRefused = true;
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> over.queuePair().postSend(new SendWorkRequest().id(2)))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOTCONN));
        }
    }

    @Test
    void unsignaledSendsAfterOneThatHasFailedAreLost() throws Exception {
        try (Over over = connected()) {
            over.queuePair().postSend(new SendWorkRequest().id(1));
            over.queuePair().postSend(new SendWorkRequest().id(2));
            over.queuePair().postSend(new SendWorkRequest().id(3));
            driver.complete(given(0), WorkCompletionStatus.WORK_REQUEST_FLUSHED.code(), 0);
            end(over);
            assertCompleted(over, 1L, 2L, 3L);
        }
    }

    @Test
    void requestThatIsRefusedAsTheEndBecomesKnownDoesNotComplete() throws Exception {
        try (Over over = connected()) {
            driver.whilePosting = () -> end(over);
            driver.postAnswer = Errno.ENOMEM.number();
            assertThatExceptionOfType(RdmaException.class).isThrownBy(
                    () -> over.queuePair().postReceive(new ReceiveWorkRequest().id(1)));
            assertThat(poll(over.queue(), 8)).isEmpty();
            over.queuePair().postReceive(new ReceiveWorkRequest().id(2));
            assertCompleted(over, 2L);
        }
    }

    @Test
    void queueOfLateRequestsHasTheSizeOfTheOther() throws Exception {
        try (Over over = over(SIW)) {
            over.queuePair().postSend(new SendWorkRequest().id(2));
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> over.queuePair().postSend(new SendWorkRequest().id(3)))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
            over.queuePair().close();
            // Requests of a closed queue pair are not reported.
            assertThat(over.queue().poll(new WorkCompletion())).isFalse();
        }
    }

    @Test
    void otherDriversFlushByThemselves() throws Exception {
        try (Over over = over(CHELSIO)) {
            over.queuePair().postSend(new SendWorkRequest().id(2));
            assertThat(driver.posted).hasSize(2);
            assertThat(over.queue().poll(new WorkCompletion())).isFalse();
            assertThat(over.context().ended(over.queuePair(), false)).isNull();
        }
    }

    @Test
    void queuePairOfIwarpBeginsInInitAndKnowsNothingOfPaths() throws Exception {
        driver.transport = TransportType.IWARP;
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        NativeContext context = driver.open();
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(context.createCompletionQueue(4)));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
        QueuePairAttributes known = queuePair.query();
        assertThat(known.state()).isEqualTo(QueuePairState.INIT);
        assertThat(known.isSet(QueuePairAttribute.CAPABILITIES)).isTrue();
        assertThat(known.isSet(QueuePairAttribute.TIMEOUT)).isFalse();
        assertThat(known.isSet(QueuePairAttribute.ADDRESS_VECTOR)).isFalse();
    }

    // ---------------------------------------------------------------- datagrams and flags

    /** A queue pair of datagrams, and a completion of a receive with a flag of IP checksums. */
    private WorkCompletion received() throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(datagrams().completionQueue(queue));
        queuePair.modify(init(5));
        queuePair.postReceive(new ReceiveWorkRequest());
        MemorySegment completion = driver.complete(
                Native.getLong(driver.posted.getFirst(), Layout.ReceiveRequest.WR_ID), 0, 128);
        Native.putInt(completion, Layout.WorkCompletion.WC_FLAGS, CHECKSUM_OK);
        Native.putInt(completion, Layout.WorkCompletion.IMM_DATA, 0x1234);
        WorkCompletion found = new WorkCompletion();
        assertThat(queue.poll(found)).isTrue();
        return found;
    }

    private QueuePairInitAttributes datagrams() {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        return new QueuePairInitAttributes().type(QueuePairType.UD);
    }

    private static QueuePairAttributes init(int qkey) {
        return new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .qkey(qkey);
    }

    @Test
    void checksumOfADeviceThatHasNoneIsAnInvalidation() throws Exception {
        WorkCompletion found = received();
        assertThat(found.has(WorkCompletionFlag.WITH_INVALIDATE)).isTrue();
        assertThat(found.invalidatedRkey()).isEqualTo(0x1234);
        assertThat(found.has(WorkCompletionFlag.IP_CHECKSUM_OK)).isFalse();
    }

    @Test
    void checksumOfADeviceThatHasThemIsOne() throws Exception {
        driver.capabilities = DeviceCapability.UD_IP_CSUM.bit();
        WorkCompletion found = received();
        assertThat(found.has(WorkCompletionFlag.WITH_INVALIDATE)).isFalse();
        assertThat(found.has(WorkCompletionFlag.IP_CHECKSUM_OK)).isTrue();
    }

    @Test
    void privilegedQkeyIsThatOfTheQueuePair() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = domain.createQueuePair(
                datagrams().completionQueue(context.createCompletionQueue(4)));
        queuePair.modify(init(5));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
        queuePair.modify(new QueuePairAttributes().qkey(6));
        AddressHandle path = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        queuePair.postSend(List.of(new SendWorkRequest().to(path, 9, 0x8000_0001),
                new SendWorkRequest().to(path, 9, 0x7fff_ffff)));
        assertThat(driver.posted)
                .extracting(request -> Native.getInt(request, SendRequest.REMOTE_QKEY))
                .containsExactly(6, 0x7fff_ffff);
    }
}
