// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.FlowRuleType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
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
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.XrcDomain;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Extended reliable connections over a library made of Java. */
class XrcTest {
    private static final int NUMBER = 0x123;
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;

    private final FakeDriver driver = new FakeDriver();
    /** What the library was given, call by call. */
    private final List<MemorySegment> given = new ArrayList<>();
    private final List<Long> freed = new ArrayList<>();
    private long domainPointer;
    private int createAnswer;

    @BeforeEach
    void driverHasThem() {
        driver.capabilities = DeviceCapability.XRC.bit();
        driver.operation(ContextOperation.OPEN_XRCD, arguments -> {
            domainPointer = made(arguments[1], Layout.XrcDomainInitAttr.SIZE);
            return domainPointer;
        });
        driver.operation(ContextOperation.CLOSE_XRCD, arguments -> {
            freed.add(arguments[0]);
            return 0;
        });
        driver.operation(ContextOperation.CREATE_SRQ_EX, arguments -> made(arguments[1],
                Layout.SharedReceiveQueueInitAttr.EXTENDED_SIZE));
        driver.operation(ContextOperation.GET_SRQ_NUM, arguments -> {
            Native.putInt(Native.at(arguments[1], Integer.BYTES), 0, NUMBER);
            return 0;
        });
        driver.operation(ContextOperation.CREATE_QP_EX,
                arguments -> made(arguments[1], Layout.QueuePairInitAttr.EXTENDED_SIZE));
        driver.operation(ContextOperation.OPEN_QP,
                arguments -> made(arguments[1], Layout.QueuePairOpenAttr.SIZE));
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        driver.operation(ContextOperation.POST_SRQ_RECV, arguments -> {
            driver.posted.add(driver.copy(arguments[1], Layout.ReceiveRequest.SIZE));
            return 0;
        });
    }

    private long made(long attributes, long size) {
        given.add(driver.copy(attributes, size));
        if (createAnswer != 0) {
            return FakeLibrary.fail(createAnswer) + 1;
        }
        long object = driver.object(160);
        Native.putInt(Native.at(object, 160), Layout.QueuePair.QP_NUM, NUMBER);
        return object;
    }

    @AfterEach
    void libraryDidNotFail() throws IOException {
        driver.close();
    }

    private static void assertRefused(Errno errno, ThrowingCallable call, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
            for (String word : words) {
                assertThat(e.getMessage()).contains(word);
            }
        });
    }

    private static ByteBuffer structure(long size) {
        return ByteBuffer.allocate((int) size).order(ByteOrder.nativeOrder());
    }

    private static void assertBytes(MemorySegment found, ByteBuffer expected) {
        assertThat(ByteBuffer.wrap(found.toArray(JAVA_BYTE))).isEqualTo(expected.rewind());
    }

    private static SharedReceiveQueueInitAttributes shared(XrcDomain connections,
            CompletionQueue queue) {
        return new SharedReceiveQueueInitAttributes().type(SharedReceiveQueueType.XRC)
                .xrcDomain(connections).completionQueue(queue)
                .maxRequests(4).maxElements(2).limit(1).userContext("ours");
    }

    // ---------------------------------------------------------------- domains

    @Test
    void domainOfThisProcessAloneHasNoFile() throws RdmaException {
        try (XrcDomain domain = driver.open().openXrcDomain()) {
            assertThat(domain.context().device().name()).isEqualTo("fake0");
            assertBytes(given.getFirst(), structure(12).putInt(3).putInt(-1).putInt(O_CREAT));
        }
        assertThat(freed).containsExactly(domainPointer);
    }

    @Test
    void domainOfAFileIsOpenedWithItsDescriptorWhichIsClosedAgain(@TempDir Path directory)
            throws Exception {
        Path file = directory.resolve("domain");
        List<Path> seen = new ArrayList<>();
        driver.operation(ContextOperation.OPEN_XRCD, arguments -> {
            long domain = made(arguments[1], Layout.XrcDomainInitAttr.SIZE);
            seen.add(target(descriptor()));
            return domain;
        });
        NativeContext context = driver.open();
        XrcDomain domain = context.openXrcDomain(file, StandardOpenOption.CREATE);
        assertThat(file).isEmptyFile();
        assertThat(seen).containsExactly(file.toRealPath());
        assertThat(target(descriptor())).isNotEqualTo(file.toRealPath());
        assertBytes(given.getLast(), structure(12).putInt(3).putInt(descriptor()).putInt(O_CREAT));
        domain.close();
        context.openXrcDomain(file, StandardOpenOption.CREATE_NEW).close();
        assertThat(Native.getInt(given.getLast(), Layout.XrcDomainInitAttr.OFLAGS))
                .isEqualTo(O_CREAT | O_EXCL);
        context.openXrcDomain(file).close();
        assertThat(Native.getInt(given.getLast(), Layout.XrcDomainInitAttr.OFLAGS)).isZero();
        context.close();
    }

    private int descriptor() {
        return Native.getInt(given.getLast(), Layout.XrcDomainInitAttr.FD);
    }

    private static Path target(int descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", "" + descriptor));
        } catch (IOException gone) {
            return Path.of("nothing");
        }
    }

    @Test
    void fileThatCannotBeOpenedDoesNotReachTheLibrary(@TempDir Path directory)
            throws RdmaException {
        NativeContext context = driver.open();
        Path file = directory.resolve("domain");
        assertRefused(Errno.ENOENT, () -> context.openXrcDomain(file), file.toString());
        assertRefused(Errno.EINVAL, () -> context.openXrcDomain(file, StandardOpenOption.CREATE,
                StandardOpenOption.APPEND), "APPEND");
        assertThat(file).doesNotExist();
        assertThat(given).isEmpty();
    }

    @Test
    void refusalOfTheKernelHasItsErrorNumberAndLeavesNothing(@TempDir Path directory)
            throws Exception {
        NativeContext context = driver.open();
        Path file = Files.createFile(directory.resolve("domain"));
        createAnswer = Errno.EAGAIN.number();
        assertRefused(Errno.EAGAIN, () -> context.openXrcDomain(file), "CREATE");
        assertThat(target(descriptor())).isNotEqualTo(file.toRealPath());
        context.close();
    }

    @Test
    void deviceWithoutThemRefuses() throws RdmaException {
        driver.capabilities = 0;
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        ProtectionDomain domain = context.allocateProtectionDomain();
        assertRefused(Errno.EOPNOTSUPP, context::openXrcDomain, "fake0", "XRC");
        for (QueuePairType type : new QueuePairType[]{QueuePairType.XRC_SEND,
            QueuePairType.XRC_RECEIVE}) {
            assertRefused(Errno.EOPNOTSUPP, () -> domain.createQueuePair(
                    new QueuePairInitAttributes().type(type).completionQueue(queue)), "XRC");
        }
        assertRefused(Errno.EOPNOTSUPP,
                () -> domain.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                        .type(SharedReceiveQueueType.XRC).maxRequests(1)),
                "XRC");
        assertThat(given).isEmpty();
        assertThat(driver.called(VerbsSymbol.CREATE_QP)).isZero();
    }

    @Test
    void driverThatClaimsThemAndHasNoFunctionsIsNotCalled() throws RdmaException {
        driver.put(ContextOperation.OPEN_XRCD.offset(), 0);
        NativeContext context = driver.open();
        assertRefused(Errno.EOPNOTSUPP, context::openXrcDomain, "driver does not offer");
        context.close();
    }

    // ---------------------------------------------------------------- shared receive queues

    @Test
    void sharedReceiveQueueIsAskedForAsTheHeadersHaveIt() throws RdmaException {
        NativeContext context = driver.open();
        NativeProtectionDomain domain = (NativeProtectionDomain) context
                .allocateProtectionDomain();
        NativeCompletionQueue queue = (NativeCompletionQueue) context.createCompletionQueue(4);
        SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(shared(context.openXrcDomain(), queue));
        assertBytes(given.getLast(), structure(64).putLong(0).putInt(4).putInt(2).putInt(1)
                .putInt(0xf).putInt(1).putInt(0).putLong(domain.services().pointer())
                .putLong(domainPointer)
                .putLong(queue.pointer()));
        assertThat(shared.type()).isEqualTo(SharedReceiveQueueType.XRC);
        assertThat(shared.number()).isEqualTo(NUMBER);
        assertThat(shared.userContext()).isEqualTo("ours");
        assertThat(driver.called(VerbsSymbol.CREATE_SRQ)).isZero();
    }

    @Test
    void basicSharedReceiveQueueTakesTheOldCallAndHasNoNumber() throws RdmaException {
        SharedReceiveQueue shared = driver.open().allocateProtectionDomain()
                .createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(4).maxElements(2));
        assertThat(shared.type()).isEqualTo(SharedReceiveQueueType.BASIC);
        assertThat(driver.called(VerbsSymbol.CREATE_SRQ)).isOne();
        assertThat(given).isEmpty();
        assertRefused(Errno.EOPNOTSUPP, shared::number, "BASIC");
    }

    @Test
    void sharedReceiveQueueThatLacksOrHasTooMuchIsRefused() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue queue = context.createCompletionQueue(4);
        XrcDomain connections = context.openXrcDomain();
        given.clear();
        assertRefused(Errno.EINVAL, () -> domain.createSharedReceiveQueue(
                shared(connections, queue).completionQueue(null)), "completion queue");
        assertRefused(Errno.EINVAL, () -> domain.createSharedReceiveQueue(
                shared(connections, queue).xrcDomain(null)), "needs an XRC domain");
        assertRefused(Errno.EINVAL, () -> domain.createSharedReceiveQueue(
                shared(connections, queue).type(SharedReceiveQueueType.BASIC)), "not BASIC");
        connections.close();
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(
                () -> domain.createSharedReceiveQueue(shared(connections, queue)));
        assertThat(given).isEmpty();
    }

    @Test
    void receiveOfASharedQueueCompletesInItsOwnCompletionQueue() throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        SharedReceiveQueue shared = context.allocateProtectionDomain()
                .createSharedReceiveQueue(shared(context.openXrcDomain(), queue));
        shared.post(new ReceiveWorkRequest().id(77));
        MemorySegment completion = driver.complete(
                Native.getLong(driver.posted.getFirst(), Layout.ReceiveRequest.WR_ID), 0, 128);
        Native.putInt(completion, Layout.WorkCompletion.QP_NUM, NUMBER);
        WorkCompletion found = new WorkCompletion();
        assertThat(queue.poll(found)).isTrue();
        assertThat(found.id()).isEqualTo(77);
        assertThat(found.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
        assertThat(found.queuePairNumber()).isEqualTo(NUMBER);
    }

    // ---------------------------------------------------------------- receiving queue pairs

    private static QueuePairInitAttributes receiving() {
        return new QueuePairInitAttributes().type(QueuePairType.XRC_RECEIVE);
    }

    @Test
    void receivingQueuePairHasADomainAndNothingElse() throws RdmaException {
        XrcDomain domain = driver.open().openXrcDomain();
        QueuePair queuePair = domain.createQueuePair(receiving().userContext("ours"));
        assertBytes(given.getLast(), structure(136).putInt(52, 10).putInt(60, 2).putLong(72,
                domainPointer));
        assertThat(queuePair.number()).isEqualTo(NUMBER);
        assertThat(queuePair.type()).isEqualTo(QueuePairType.XRC_RECEIVE);
        assertThat(queuePair.xrcDomain()).isSameAs(domain);
        assertThat(queuePair.userContext()).isEqualTo("ours");
        assertThat(queuePair.sharedReceiveQueue()).isNull();
        assertThat(queuePair.capabilities())
                .isEqualTo(new QueuePairCapabilities(0, 0, 0, 0, 0));
        assertThat(queuePair.initAttributes().type()).isEqualTo(QueuePairType.XRC_RECEIVE);
        assertThat(queuePair.initAttributes().sendCompletionQueue()).isNull();
        for (ThrowingCallable accessor : List.<ThrowingCallable>of(queuePair::protectionDomain,
                queuePair::sendCompletionQueue, queuePair::receiveCompletionQueue,
                queuePair::startBatch)) {
            assertThatIllegalStateException().isThrownBy(accessor)
                    .withMessageContaining("XRC_RECEIVE");
        }
    }

    @Test
    void receivingQueuePairIsPostedNothing() throws RdmaException {
        QueuePair queuePair = driver.open().openXrcDomain().createQueuePair(receiving());
        assertRefused(Errno.EINVAL, () -> queuePair.postSend(new SendWorkRequest()), "XRC_SEND");
        assertRefused(Errno.EINVAL,
                () -> queuePair.postSend(List.of(new SendWorkRequest())), "posted nothing");
        assertRefused(Errno.EINVAL, () -> queuePair.postReceive(new ReceiveWorkRequest()),
                "shared receive queue");
        assertRefused(Errno.EINVAL,
                () -> queuePair.postReceive(List.of(new ReceiveWorkRequest())), "posted nothing");
        assertRefused(Errno.EINVAL, () -> queuePair.attachMulticast(Gid.ZERO), "UD");
        assertRefused(Errno.EINVAL, () -> queuePair.detachMulticast(Gid.ZERO), "UD");
        assertRefused(Errno.EINVAL,
                () -> queuePair.attachFlow(FlowRule.of(FlowRuleType.SNIFFER)), "RAW_PACKET");
        queuePair.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> queuePair.postReceive(new ReceiveWorkRequest()));
        assertThat(driver.posted).isEmpty();
    }

    @Test
    void receivingQueuePairGoesThroughTheStatesOfAResponder() throws RdmaException {
        QueuePair queuePair = driver.open().openXrcDomain().createQueuePair(receiving());
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .accessFlags(Set.of()));
        queuePair.modify(connected().maxDestinationReadAtomic(1).minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(driver.called(VerbsSymbol.MODIFY_QP)).isEqualTo(3);
    }

    private static QueuePairAttributes connected() {
        return new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(Gid.ZERO, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(7).receivePsn(1);
    }

    @Test
    void queuePairOfAnotherProcessIsOpenedByItsNumber() throws RdmaException {
        driver.library.define(VerbsSymbol.QUERY_QP, arguments -> {
            Native.putInt(Native.at(arguments[1], Layout.QueuePairAttr.SIZE),
                    Layout.QueuePairAttr.QP_STATE, 2);
            return 0;
        });
        XrcDomain domain = driver.open().openXrcDomain();
        QueuePair queuePair = domain.openQueuePair(NUMBER, "theirs");
        assertBytes(given.getLast(), structure(32).putInt(0xb).putInt(NUMBER)
                .putLong(domainPointer).putLong(0).putInt(10));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
        assertThat(queuePair.userContext()).isEqualTo("theirs");
        assertThat(queuePair.xrcDomain()).isSameAs(domain);
        queuePair.close();
        createAnswer = Errno.EINVAL.number();
        assertRefused(Errno.EINVAL, () -> domain.openQueuePair(5, null), "number 5");
        domain.close();
    }

    @Test
    void queuePairWhoseStateCannotBeAskedIsNotLeftOpen() throws RdmaException {
        XrcDomain domain = driver.open().openXrcDomain();
        driver.failures.put(VerbsSymbol.QUERY_QP, Errno.EIO.number());
        assertRefused(Errno.EIO, () -> domain.openQueuePair(NUMBER, null));
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
        domain.close();
    }

    @Test
    void domainMakesReceivingQueuePairsAlone() throws RdmaException {
        NativeContext context = driver.open();
        XrcDomain domain = context.openXrcDomain();
        CompletionQueue queue = context.createCompletionQueue(4);
        given.clear();
        assertRefused(Errno.EINVAL, () -> domain.createQueuePair(new QueuePairInitAttributes()),
                "XRC_RECEIVE, not RC");
        assertRefused(Errno.EINVAL,
                () -> domain.createQueuePair(receiving().completionQueue(queue)),
                "completion queues");
        assertRefused(Errno.EINVAL, () -> context.allocateProtectionDomain()
                .createQueuePair(receiving().completionQueue(queue)),
                "XrcDomain.createQueuePair");
        assertThat(given).isEmpty();
    }

    // ---------------------------------------------------------------- sending queue pairs

    private static QueuePairInitAttributes sending(CompletionQueue queue) {
        return new QueuePairInitAttributes().type(QueuePairType.XRC_SEND)
                .sendCompletionQueue(queue).capabilities(new QueuePairCapabilities(4, 9, 2, 9, 8))
                .sendOperations(SendOpcode.SEND);
    }

    private static QueuePair ready(QueuePair queuePair) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .accessFlags(Set.of()));
        queuePair.modify(connected());
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1));
        return queuePair;
    }

    @Test
    void sendingQueuePairHasNoReceiveQueue() throws RdmaException {
        NativeContext context = driver.open();
        NativeCompletionQueue queue = (NativeCompletionQueue) context.createCompletionQueue(4);
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = domain.createQueuePair(sending(queue));
        assertBytes(driver.queuePairAttributes, structure(64).putLong(8, queue.pointer())
                .putInt(32, 4).putInt(40, 2).putInt(48, 8).putInt(52, 9));
        assertThat(queuePair.sendCompletionQueue()).isSameAs(queue);
        assertThatIllegalStateException().isThrownBy(queuePair::receiveCompletionQueue)
                .withMessageContaining("XRC_SEND");
        assertThat(queuePair.capabilities()).isEqualTo(new QueuePairCapabilities(4, 0, 2, 0, 8));
        assertRefused(Errno.EINVAL, () -> queuePair.postReceive(new ReceiveWorkRequest()),
                "XRC_SEND", "peer's shared receive queue");
        SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(1));
        assertRefused(Errno.EINVAL,
                () -> domain.createQueuePair(sending(queue).sharedReceiveQueue(shared)),
                "receive nothing");
        queuePair.close();
        queue.close();
    }

    @Test
    void requestNamesThePeersSharedReceiveQueue() throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        QueuePair queuePair = ready(
                context.allocateProtectionDomain().createQueuePair(sending(queue)));
        queuePair.postSend(new SendWorkRequest().toSharedReceiveQueue(0x77).write(1, 2));
        SendBatch batch = queuePair.startBatch();
        batch.send().toSharedReceiveQueue(0x78);
        batch.post();
        assertThat(driver.posted)
                .extracting(request -> Native.getInt(request, SendRequest.REMOTE_SRQN))
                .containsExactly(0x77, 0x78);
        assertThat(Native.getLong(driver.posted.getFirst(), SendRequest.REMOTE_ADDR)).isOne();
    }

    @Test
    void queuePairOfAnotherTypeDoesNotDrawFromAQueueOfConnections() throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        ProtectionDomain domain = context.allocateProtectionDomain();
        SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(shared(context.openXrcDomain(), queue));
        assertRefused(Errno.EINVAL, () -> domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(queue).sharedReceiveQueue(shared)), "BASIC");
    }

    // ---------------------------------------------------------------- the end

    @Test
    void nothingIsClosedBeforeWhatDependsOnIt() throws RdmaException {
        NativeContext context = driver.open();
        XrcDomain connections = context.openXrcDomain();
        CompletionQueue queue = context.createCompletionQueue(4);
        ProtectionDomain domain = context.allocateProtectionDomain();
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(shared(connections, queue));
        assertRefused(Errno.EBUSY, connections::close);
        assertRefused(Errno.EBUSY, queue::close);
        assertRefused(Errno.EBUSY, domain::close);
        shared.close();
        queue.close();
        domain.close();
        QueuePair queuePair = connections.createQueuePair(receiving());
        assertRefused(Errno.EBUSY, connections::close);
        assertRefused(Errno.EBUSY, context::close);
        queuePair.close();
        queuePair.close();
        assertThat(freed).isEmpty();
        connections.close();
        connections.close();
        context.close();
        assertThat(freed).hasSize(1);
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> connections.openQueuePair(1, null));
        assertThatIllegalStateException().isThrownBy(queuePair::state);
    }
}
