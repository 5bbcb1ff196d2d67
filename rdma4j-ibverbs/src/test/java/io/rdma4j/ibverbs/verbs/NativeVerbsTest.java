// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttr;
import io.rdma4j.ibverbs.abi.Layout.Element;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Layout.ReceiveRequest;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Layout.WorkCompletion;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.CallChoice;
import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The verbs' objects over a library made of Java. */
class NativeVerbsTest {
    private static final long REMOTE = 0x1234_5678_9abcL;
    private static final int RKEY = 0x0bad_cafe;

    private final FakeDriver driver = new FakeDriver();
    private int vendor;

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
        });
    }

    /** A queue pair that can send, and what it was made from. */
    private record Setting(NativeContext context, ProtectionDomain domain, CompletionQueue queue,
            QueuePair queuePair) {}

    private Setting setting() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue queue = context.createCompletionQueue(16);
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(queue)
                .capabilities(new QueuePairCapabilities(4, 4, 2, 2, 16)));
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(1).accessFlags(Set.of()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(Gid.ZERO, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(7).receivePsn(1).maxDestinationReadAtomic(1)
                .minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1));
        return new Setting(context, domain, queue, queuePair);
    }

    private static long number(MemorySegment request) {
        return Native.getLong(request, SendRequest.WR_ID);
    }

    // ---------------------------------------------------------------- the binary interface

    @Test
    void libraryOfAnotherLayoutIsRefusedAndTheDeviceClosed() {
        driver.put(Context.ABI_COMPAT, 0);
        assertErrno(Errno.EOPNOTSUPP, driver::open);
        assertThat(driver.called(VerbsSymbol.CLOSE_DEVICE)).isOne();
    }

    @Test
    void libraryWithoutAFunctionThatIsNeededIsRefused() {
        driver.library.remove(VerbsSymbol.CREATE_QP);
        assertErrno(Errno.EOPNOTSUPP, driver::open);
    }

    @Test
    void functionsBehindTheEndOfAnOlderLibraryAreNotLookedAt() throws RdmaException {
        driver.put(Context.EXTENSION_SIZE, Context.SIZE);
        driver.put(ContextOperation.MODIFY_CQ.offset(), 1);
        CompletionQueue queue = driver.open().createCompletionQueue(16);
        assertErrno(Errno.EOPNOTSUPP, () -> queue.moderate(1, Duration.of(1, ChronoUnit.MICROS)));
    }

    @Test
    void whatTheDriverDoesNotOfferIsRefused() throws RdmaException {
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EOPNOTSUPP,
                () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
        assertErrno(Errno.EOPNOTSUPP, domain::registerNull);
        driver.put(ContextOperation.POST_SRQ_RECV.offset(), 0);
        ProtectionDomain ofAnother = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EOPNOTSUPP, () -> shared(ofAnother, 4));
        assertThat(driver.called(VerbsSymbol.CREATE_SRQ)).isZero();
    }

    /** No other drivers are known to allow it; what the kernel's do is a system call. */
    @Test
    void criticalCallsAreForDevicesOfAKnownMakerAndOnlyIfAsked() throws RdmaException {
        driver.library.define(VerbsSymbol.QUERY_DEVICE, arguments -> {
            Native.putInt(Native.at(arguments[1], DeviceAttr.SIZE), DeviceAttr.VENDOR_ID, vendor);
            return 0;
        });
        vendor = 0x02c9;
        assertThat(driver.open().services().hotCalls()).isEqualTo(HotCalls.ORDINARY);
        System.setProperty(CallChoice.PROPERTY, "true");
        try {
            assertThat(driver.open().services().hotCalls()).isEqualTo(HotCalls.CRITICAL);
            // That of rdma_rxe.
            vendor = 0xff_ffff;
            assertThat(driver.open().services().hotCalls()).isEqualTo(HotCalls.ORDINARY);
            System.setProperty(CallChoice.PROPERTY, "yes");
            assertErrno(Errno.EINVAL, driver::open);
            assertThat(driver.called(VerbsSymbol.CLOSE_DEVICE)).isOne();
        } finally {
            System.clearProperty(CallChoice.PROPERTY);
        }
    }

    // ---------------------------------------------------------------- posting

    @Test
    void requestIsWrittenAsTheHeadersHaveIt() throws RdmaException {
        Setting setting = setting();
        setting.queuePair().postSend(new SendWorkRequest().id(5)
                .writeWithImmediate(REMOTE, RKEY, 0x0102_0304).add(0x1000, 100, 0x77)
                .add(0x2000, 0x7000_0000L, 0x78).set(SendFlag.SIGNALED).set(SendFlag.FENCE));
        MemorySegment request = driver.posted.getFirst();
        assertThat(Native.getLong(request, SendRequest.NEXT)).isZero();
        assertThat(Native.getInt(request, SendRequest.NUM_SGE)).isEqualTo(2);
        assertThat(Native.getInt(request, SendRequest.OPCODE)).isEqualTo(1);
        assertThat(Native.getInt(request, SendRequest.SEND_FLAGS)).isEqualTo(1 | 2);
        assertThat(request.asSlice(SendRequest.IMM_DATA, 4)
                .toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3, 4);
        assertThat(Native.getLong(request, SendRequest.REMOTE_ADDR)).isEqualTo(REMOTE);
        assertThat(Native.getInt(request, SendRequest.RDMA_RKEY)).isEqualTo(RKEY);
        MemorySegment second = driver.element(request, 1);
        assertThat(Native.getLong(second, Element.ADDR)).isEqualTo(0x2000);
        assertThat(Native.getInt(second, Element.LENGTH)).isEqualTo(0x7000_0000);
        assertThat(Native.getInt(second, Element.LKEY)).isEqualTo(0x78);
    }

    @Test
    void atomicIsWrittenAsTheHeadersHaveIt() throws RdmaException {
        setting().queuePair()
                .postSend(new SendWorkRequest().compareAndSwap(REMOTE, RKEY, 3, 4).add(0, 8, 1));
        MemorySegment request = driver.posted.getFirst();
        assertThat(Native.getInt(request, SendRequest.OPCODE)).isEqualTo(5);
        assertThat(Native.getLong(request, SendRequest.REMOTE_ADDR)).isEqualTo(REMOTE);
        assertThat(Native.getLong(request, SendRequest.COMPARE_ADD)).isEqualTo(3);
        assertThat(Native.getLong(request, SendRequest.SWAP)).isEqualTo(4);
        assertThat(Native.getInt(request, SendRequest.ATOMIC_RKEY)).isEqualTo(RKEY);
    }

    @Test
    void listIsOneChain() throws RdmaException {
        setting().queuePair().postSend(
                List.of(new SendWorkRequest().id(1), new SendWorkRequest().id(2)));
        assertThat(driver.posted).hasSize(2);
        assertThat(number(driver.posted.get(1))).isEqualTo(number(driver.posted.get(0)) + 1);
    }

    @Test
    void listOfReceivesIsOneChain() throws RdmaException {
        Setting setting = setting();
        setting.queuePair().postReceive(List.of(new ReceiveWorkRequest().id(1),
                new ReceiveWorkRequest().id(2).add(0x1000, 100, 0x77).add(0x2000, 50, 0x78)));
        assertThat(driver.posts).isOne();
        assertThat(driver.posted).hasSize(2);
        assertThat(number(driver.posted.get(1))).isEqualTo(number(driver.posted.get(0)) + 1);
        assertThat(Native.getInt(driver.posted.get(0), ReceiveRequest.NUM_SGE)).isZero();
        MemorySegment request = driver.posted.get(1);
        assertThat(Native.getInt(request, ReceiveRequest.NUM_SGE)).isEqualTo(2);
        MemorySegment second = driver.element(request, 1);
        assertThat(Native.getLong(second, Element.ADDR)).isEqualTo(0x2000);
        assertThat(Native.getInt(second, Element.LENGTH)).isEqualTo(50);
        assertThat(Native.getInt(second, Element.LKEY)).isEqualTo(0x78);
    }

    @Test
    void listThatIsLongerThanAChainIsPostedInSeveral() throws RdmaException {
        SharedReceiveQueue shared = shared(100);
        shared.post(receives(70));
        assertThat(driver.posts).isEqualTo(3);
        assertThat(driver.posted).hasSize(70);
        driver.refusedIndex = 2;
        driver.postAnswer = Errno.EINVAL.number();
        assertFailedIndex(2, Errno.EINVAL, () -> shared.post(receives(30)));
    }

    @Test
    void receivesBeforeOneThatIsRefusedInAListArePosted() throws RdmaException {
        Setting setting = setting();
        SharedReceiveQueue shared = shared(4);
        ReceiveWorkRequest good = new ReceiveWorkRequest();
        ReceiveWorkRequest tooManyElements = new ReceiveWorkRequest().add(0, 1, 1).add(0, 1, 1)
                .add(0, 1, 1);
        assertFailedIndex(2, Errno.EINVAL,
                () -> setting.queuePair().postReceive(List.of(good, good, tooManyElements)));
        assertFailedIndex(1, Errno.EINVAL, () -> shared.post(Arrays.asList(good, null, good)));
        assertThat(driver.posted).hasSize(3);
        assertThat(driver.posts).isEqualTo(2);
    }

    @Test
    void receiveThatTheDriverRefusesInAListLeavesItsPlace() throws RdmaException {
        Setting setting = setting();
        SharedReceiveQueue shared = shared(4);
        driver.refusedIndex = 1;
        driver.postAnswer = -Errno.ENOMEM.number();
        assertFailedIndex(1, Errno.ENOMEM, () -> setting.queuePair().postReceive(receives(4)));
        assertFailedIndex(1, Errno.ENOMEM, () -> shared.post(receives(4)));
        driver.postAnswer = 0;
        // One is outstanding of each; three fit, and no fourth.
        assertFailedIndex(3, Errno.ENOMEM, () -> setting.queuePair().postReceive(receives(4)));
        assertFailedIndex(3, Errno.ENOMEM, () -> shared.post(receives(4)));
        assertThat(driver.posted).hasSize(8);
        assertThat(driver.posted.stream().map(NativeVerbsTest::number)).doesNotHaveDuplicates();
    }

    @Test
    void listOfReceivesForAQueuePairThatTakesNoneIsRefusedAtItsFirst() throws RdmaException {
        Setting setting = setting();
        QueuePair sharing = setting.domain().createQueuePair(new QueuePairInitAttributes()
                .completionQueue(setting.queue()).sharedReceiveQueue(shared(setting.domain(), 4)));
        assertFailedIndex(0, Errno.EINVAL, () -> sharing.postReceive(receives(1)));
        sharing.postReceive(List.of());
        assertThat(driver.posts).isZero();
    }

    @Test
    void receiveSizesOfAQueuePairWithASharedReceiveQueueAreIgnored() throws RdmaException {
        Setting setting = setting();
        driver.toldReceives = 7;
        QueuePair sharing = setting.domain().createQueuePair(new QueuePairInitAttributes()
                .completionQueue(setting.queue()).sharedReceiveQueue(shared(setting.domain(), 4))
                .capabilities(new QueuePairCapabilities(4, 1 << 30, 1, 1 << 20, 0)));
        assertThat(Native.getInt(driver.queuePairAttributes, QueuePairInitAttr.MAX_RECV_WR))
                .isZero();
        assertThat(Native.getInt(driver.queuePairAttributes, QueuePairInitAttr.MAX_RECV_SGE))
                .isZero();
        assertThat(sharing.capabilities()).isEqualTo(new QueuePairCapabilities(4, 0, 1, 0, 0));
    }

    @Test
    void sharedReceivesCompleteInAnyOrderAndTheirPlacesAreUsedAgain() throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(16);
        SharedReceiveQueue shared = shared(context.allocateProtectionDomain(), 3);
        io.rdma4j.verbs.WorkCompletion completion = new io.rdma4j.verbs.WorkCompletion();
        long id = 0;
        for (int round = 0; round < 10; round++) {
            driver.posted.clear();
            shared.post(List.of(new ReceiveWorkRequest().id(id),
                    new ReceiveWorkRequest().id(id + 1), new ReceiveWorkRequest().id(id + 2)));
            assertErrno(Errno.ENOMEM, () -> shared.post(new ReceiveWorkRequest()));
            for (int i : new int[]{1, 2, 0}) {
                driver.complete(number(driver.posted.get(i)), 0, 128);
                assertThat(queue.poll(completion)).isTrue();
                assertThat(completion.id()).isEqualTo(id + i);
            }
            id += 3;
        }
        // Each has completed once.
        driver.complete(number(driver.posted.getFirst()), 0, 128);
        assertThat(queue.poll(completion)).isFalse();
    }

    @Test
    void sharedReceiveQueueThatIsResizedHasRoomForMore() throws RdmaException {
        SharedReceiveQueue shared = shared(2);
        shared.post(receives(2));
        assertErrno(Errno.ENOMEM, () -> shared.post(new ReceiveWorkRequest()));
        shared.resize(5);
        assertFailedIndex(3, Errno.ENOMEM, () -> shared.post(receives(4)));
        assertThat(driver.posted.stream().map(NativeVerbsTest::number)).hasSize(5)
                .doesNotHaveDuplicates();
    }

    @Test
    void whatIsOutstandingIsKnownUnlessOthersUseTheCompletionQueue() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue sends = context.createCompletionQueue(16);
        CompletionQueue receives = context.createCompletionQueue(16);
        QueuePair own = domain.createQueuePair(new QueuePairInitAttributes()
                .sendCompletionQueue(sends).receiveCompletionQueue(receives)
                .capabilities(new QueuePairCapabilities(4, 4, 2, 2, 16)));
        assertThat(context.outstanding(own, false)).isSameAs(Outstanding.NOTHING);
        assertThat(context.outstanding(own, true)).isSameAs(Outstanding.NOTHING);
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .accessFlags(Set.of()));
        own.postReceive(new ReceiveWorkRequest());
        assertThat(context.outstanding(own, true)).isSameAs(Outstanding.COMPLETING);
        domain.createQueuePair(new QueuePairInitAttributes().completionQueue(sends));
        assertThat(context.outstanding(own, false)).isSameAs(Outstanding.COMPLETING);
    }

    private SharedReceiveQueue shared(int requests) throws RdmaException {
        return shared(driver.open().allocateProtectionDomain(), requests);
    }

    private static SharedReceiveQueue shared(ProtectionDomain domain, int requests)
            throws RdmaException {
        return domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(requests));
    }

    private static List<ReceiveWorkRequest> receives(int count) {
        return Collections.nCopies(count, new ReceiveWorkRequest());
    }

    private static void assertFailedIndex(int index, Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(PostException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.failedIndex()).as(e.getMessage()).isEqualTo(index);
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
        });
    }

    @Test
    void refusalInAListTellsWhichItWas() throws RdmaException {
        Setting setting = setting();
        driver.refusedIndex = 1;
        // siw's provider negates the error number.
        driver.postAnswer = -Errno.ENOMEM.number();
        assertThatExceptionOfType(PostException.class)
                .isThrownBy(() -> setting.queuePair()
                        .postSend(List.of(new SendWorkRequest(), new SendWorkRequest())))
                .satisfies(e -> {
                    assertThat(e.failedIndex()).isOne();
                    assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                });
        driver.postAnswer = 0;
        // The refused one has left its place.
        setting.queuePair().postSend(List.of(new SendWorkRequest(), new SendWorkRequest(),
                new SendWorkRequest()));
        assertErrno(Errno.ENOMEM, () -> setting.queuePair().postSend(new SendWorkRequest()));
    }

    @Test
    void whatWouldBeWrongForTheDriverDoesNotReachIt() throws RdmaException {
        Setting setting = setting();
        assertErrno(Errno.EMSGSIZE, () -> setting.queuePair()
                .postSend(new SendWorkRequest().add(0, 0x1_0000_0000L, 1)));
        assertErrno(Errno.EINVAL, () -> setting.queuePair().postSend(
                new SendWorkRequest().add(0, 1, 1).add(0, 1, 1).add(0, 1, 1)));
        assertErrno(Errno.EINVAL, () -> setting.queuePair().postSend(
                new SendWorkRequest().inline(MemorySegment.ofArray(new byte[17]))));
        assertErrno(Errno.EFAULT, () -> setting.queuePair()
                .postSend(new SendWorkRequest().add(8, 8, 99).set(SendFlag.INLINE)));
        QueuePair idle = setting.domain().createQueuePair(
                new QueuePairInitAttributes().completionQueue(setting.queue()));
        assertErrno(Errno.EINVAL, () -> idle.postSend(new SendWorkRequest()));
        assertErrno(Errno.EINVAL, () -> idle.postReceive(new ReceiveWorkRequest()));
        assertThat(driver.posted).isEmpty();
    }

    @Test
    void inlineDataIsCopied() throws RdmaException {
        setting().queuePair()
                .postSend(new SendWorkRequest().inline(MemorySegment.ofArray(new byte[]{9, 8})));
        MemorySegment element = driver.element(driver.posted.getFirst(), 0);
        assertThat(Native.getInt(element, Element.LENGTH)).isEqualTo(2);
        assertThat(Native.at(Native.getLong(element, Element.ADDR), 2)
                .toArray(ValueLayout.JAVA_BYTE)).containsExactly(9, 8);
    }

    @Test
    void memoryWhoseArenaIsClosedIsDeregisteredAndNotPosted() throws RdmaException {
        Setting setting = setting();
        Arena arena = Arena.ofShared();
        MemoryRegion region = setting.domain().register(arena.allocate(64),
                AccessFlag.LOCAL_WRITE);
        arena.close();
        assertErrno(Errno.EFAULT, () -> setting.queuePair()
                .postSend(new SendWorkRequest().add(region, 0, 64)));
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
        assertThat(driver.posted).isEmpty();
    }

    // ---------------------------------------------------------------- polling

    @Test
    void completionSaysWhatWasPosted() throws RdmaException {
        Setting setting = setting();
        setting.queuePair().postSend(List.of(new SendWorkRequest().id(Long.MIN_VALUE),
                new SendWorkRequest().id(42).read(REMOTE, RKEY)));
        driver.complete(number(driver.posted.get(0)), 0, 0);
        MemorySegment failed = driver.complete(number(driver.posted.get(1)), 10, 77);
        Native.putInt(failed, WorkCompletion.VENDOR_ERR, 3);
        io.rdma4j.verbs.WorkCompletion[] found = io.rdma4j.verbs.WorkCompletion.array(4);
        assertThat(setting.queue().poll(found)).isEqualTo(2);
        assertThat(found[0].id()).isEqualTo(Long.MIN_VALUE);
        assertThat(found[0].isSuccess()).isTrue();
        assertThat(found[1].id()).isEqualTo(42);
        assertThat(found[1].status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(found[1].opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
        assertThat(found[1].vendorError()).isEqualTo(3);
    }

    @Test
    void statusAndOperationThatThisVersionDoesNotKnowKeepTheirNumbers() throws RdmaException {
        Setting setting = setting();
        setting.queuePair()
                .postSend(List.of(new SendWorkRequest().id(1), new SendWorkRequest().id(2)));
        driver.complete(number(driver.posted.get(0)), 0, 77);
        driver.complete(number(driver.posted.get(1)), 99, 0);
        io.rdma4j.verbs.WorkCompletion[] found = io.rdma4j.verbs.WorkCompletion.array(2);
        assertThat(setting.queue().poll(found)).isEqualTo(2);
        assertThat(found[0].isSuccess()).isTrue();
        assertThat(found[0].opcode()).isEqualTo(WorkCompletionOpcode.UNKNOWN);
        assertThat(found[0].opcodeCode()).isEqualTo(77);
        assertThat(found[1].status()).isEqualTo(WorkCompletionStatus.UNKNOWN);
        assertThat(found[1].statusCode()).isEqualTo(99);
        assertThat(found[1].opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        assertThat(found[1].toString()).contains("status 99");
    }

    @Test
    void completionStandsForAllPostedBeforeIt() throws RdmaException {
        Setting setting = setting();
        for (int i = 0; i < 4; i++) {
            setting.queuePair().postSend(new SendWorkRequest().id(i));
        }
        assertErrno(Errno.ENOMEM, () -> setting.queuePair().postSend(new SendWorkRequest()));
        driver.complete(number(driver.posted.get(3)), 0, 0);
        assertThat(setting.queue().poll(new io.rdma4j.verbs.WorkCompletion())).isTrue();
        setting.queuePair().postSend(new SendWorkRequest());
    }

    @Test
    void completionOfAQueuePairThatIsClosedIsDropped() throws RdmaException {
        Setting setting = setting();
        setting.queuePair().postReceive(new ReceiveWorkRequest().id(1));
        driver.complete(number(driver.posted.getFirst()), 5, 0);
        setting.queuePair().close();
        assertThat(setting.queue().poll(new io.rdma4j.verbs.WorkCompletion())).isFalse();
    }

    @Test
    void moreCompletionsThanAskedForAreAFailureOfTheDriver() throws RdmaException {
        Setting setting = setting();
        // What libibverbs answers for a device that cannot be polled.
        driver.pollAnswer = 95;
        assertErrno(Errno.EIO,
                () -> setting.queue().poll(io.rdma4j.verbs.WorkCompletion.array(4)));
        driver.pollAnswer = -1;
        assertErrno(Errno.EIO, () -> setting.queue().poll(new io.rdma4j.verbs.WorkCompletion()));
    }

    @Test
    void eventOfTheLibraryReachesTheChannel() throws RdmaException {
        NativeContext context = driver.open();
        try (CompletionChannel channel = CompletionChannel.create()) {
            CompletionQueue queue = context.createCompletionQueue(4, channel);
            queue.requestNotification();
            assertThat(driver.armed()).isOne();
            driver.announce();
            assertThat(channel.pollEvent(Duration.ofSeconds(30))).isSameAs(queue);
            assertErrno(Errno.EBUSY, queue::close);
            queue.acknowledgeEvents(1);
            queue.close();
            context.close();
        }
        assertThat(driver.called(VerbsSymbol.ACK_CQ_EVENTS)).isOne();
    }

    // ---------------------------------------------------------------- the end

    @Test
    void nothingIsClosedBeforeWhatDependsOnIt() throws RdmaException {
        Setting setting = setting();
        MemoryRegion region = setting.domain().register(Arena.global().allocate(8),
                AccessFlag.LOCAL_WRITE);
        assertErrno(Errno.EBUSY, setting.context()::close);
        assertErrno(Errno.EBUSY, setting.domain()::close);
        assertErrno(Errno.EBUSY, setting.queue()::close);
        region.close();
        setting.queuePair().close();
        setting.queue().close();
        setting.domain().close();
        setting.context().close();
        setting.context().close();
        setting.queuePair().close();
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
        assertThat(driver.called(VerbsSymbol.CLOSE_DEVICE)).isOne();
    }

    @Test
    void useAfterCloseIsAnExceptionAndNoCall() throws RdmaException {
        Setting setting = setting();
        setting.queuePair().close();
        setting.queue().close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> setting.queuePair().postSend(new SendWorkRequest()));
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> setting.queuePair().postReceive(new ReceiveWorkRequest()));
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> setting.queuePair().query());
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(
                () -> setting.queue().poll(new io.rdma4j.verbs.WorkCompletion()));
        setting.domain().close();
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> setting.domain()
                .register(Arena.global().allocate(8), AccessFlag.LOCAL_WRITE));
        assertThat(driver.posted).isEmpty();
    }

    /** Closing waits for the batch; other threads can use the device meanwhile. */
    @Test
    @Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD)
    void threadInABatchCanUseTheDeviceWhileAnotherCloses() throws Exception {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                        .sendOperations(SendOpcode.SEND));
        SendBatch batch = queuePair.startBatch();
        Thread closing = Thread.ofPlatform().start(() -> {
            try {
                queuePair.close();
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        while (closing.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        context.queryDevice();
        batch.close();
        closing.join();
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
    }

    @Test
    void refusalOfTheKernelHasItsErrorNumberAndAdvice() throws RdmaException {
        NativeContext context = driver.open();
        driver.failures.put(VerbsSymbol.REG_MR_IOVA2, Errno.ENOMEM.number());
        ProtectionDomain domain = context.allocateProtectionDomain();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> domain.register(Arena.global().allocate(8)))
                .withMessageContaining("ulimit -l")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
    }

    @Test
    void memoryThatCannotBeRegisteredDoesNotReachTheLibrary() throws RdmaException {
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EINVAL, () -> domain.register(MemorySegment.ofArray(new byte[8])));
        assertErrno(Errno.EINVAL, () -> domain.register(Arena.global().allocate(8)
                .asReadOnly(), AccessFlag.LOCAL_WRITE));
        try (Arena confined = Arena.ofConfined()) {
            assertErrno(Errno.EINVAL, () -> domain.register(confined.allocate(8)));
        }
        assertThat(driver.called(VerbsSymbol.REG_MR_IOVA2)).isZero();
    }
}
