// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetMatch;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.Flow;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ParentDomainInitAttributes;
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
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.XrcDomain;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Every call of every kind of object once the object is closed: an exception, and nothing that reaches the library, which would
 * follow a pointer to memory that it has freed. Closing again does nothing.
 */
class UseAfterCloseTest {
    private static final FlowRule RULE = FlowRule.of(EthernetMatch.ANY.withDestination(1));

    private final FakeDriver driver = new FakeDriver();

    /** All that a driver can have. */
    @BeforeEach
    void driverHasEverything() {
        driver.capabilities = DeviceCapability.XRC.bit();
        for (ContextOperation making : new ContextOperation[]{ContextOperation.ALLOC_MW,
            ContextOperation.OPEN_XRCD, ContextOperation.CREATE_SRQ_EX,
            ContextOperation.CREATE_QP_EX, ContextOperation.OPEN_QP, ContextOperation.CREATE_FLOW,
            ContextOperation.CREATE_CQ_EX, ContextOperation.ALLOC_TD,
            ContextOperation.ALLOC_PARENT_DOMAIN, ContextOperation.ALLOC_DM,
            ContextOperation.REG_DM_MR, ContextOperation.ALLOC_NULL_MR}) {
            driver.operation(making, arguments -> driver.object(400));
        }
        for (ContextOperation freeing : new ContextOperation[]{ContextOperation.DEALLOC_MW,
            ContextOperation.CLOSE_XRCD, ContextOperation.DESTROY_FLOW,
            ContextOperation.DEALLOC_TD, ContextOperation.FREE_DM}) {
            driver.operation(freeing, arguments -> {
                driver.free(arguments[0]);
                return 0;
            });
        }
        for (ContextOperation asking : new ContextOperation[]{ContextOperation.BIND_MW,
            ContextOperation.GET_SRQ_NUM, ContextOperation.QUERY_DEVICE_EX,
            ContextOperation.QUERY_RT_VALUES, ContextOperation.MODIFY_CQ,
            ContextOperation.ADVISE_MR, ContextOperation.QUERY_PORT}) {
            driver.operation(asking, arguments -> 0);
        }
    }

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private interface Call {
        void run() throws Exception;
    }

    private void assertNoneReachesTheLibrary(Call... calls) {
        int before = driver.entered();
        for (int i = 0; i < calls.length; i++) {
            Call call = calls[i];
            assertThatExceptionOfType(RdmaClosedException.class).as("call %d", i)
                    .isThrownBy(call::run);
        }
        assertThat(driver.entered()).isEqualTo(before);
    }

    private void assertClosedOnce(AutoCloseable object) throws Exception {
        object.close();
        int before = driver.entered();
        object.close();
        assertThat(driver.entered()).isEqualTo(before);
    }

    private static MemorySegment memory() {
        return Arena.global().allocate(64);
    }

    private static SharedReceiveQueueInitAttributes shared() {
        return new SharedReceiveQueueInitAttributes()
                .maxRequests(4);
    }

    private static QueuePair ready(ProtectionDomain domain, QueuePairType type,
            ExtendedCompletionQueue queue) throws RdmaException {
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .completionQueue(queue).sendOperations(SendOpcode.SEND)
                .capabilities(new QueuePairCapabilities(8, 4, 2, 2, 16)));
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    @Test
    void queuePair() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ExtendedCompletionQueue queue = context
                .createExtendedCompletionQueue(new CompletionQueueInitAttributes());
        QueuePair closed = ready(domain, QueuePairType.UD, queue);
        MemoryRegion region = domain.register(memory(), AccessFlag.LOCAL_WRITE,
                AccessFlag.MW_BIND);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        MemoryWindow ofOtherType = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindowBind bind = new MemoryWindowBind(region, region.address(), 8, Set.of());
        Gid group = Gid.of(new byte[]{-1, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
        assertThat(closed.sendRefusal()).isNull();
        SendBatch batch = closed.startBatch();
        batch.close();
        assertClosedOnce(closed);
        assertThatIllegalStateException().isThrownBy(closed::state);
        int before = driver.entered();
        assertThatIllegalStateException().isThrownBy(batch::post);
        assertThatIllegalStateException().isThrownBy(() -> batch.send());
        batch.close();
        assertThat(driver.entered()).isEqualTo(before);
        assertNoneReachesTheLibrary(() -> closed.postSend(new SendWorkRequest()),
                () -> closed.postSend(List.of(new SendWorkRequest())),
                () -> closed.postReceive(new ReceiveWorkRequest()),
                () -> closed.postReceive(List.of(new ReceiveWorkRequest())),
                closed::startBatch,
                () -> closed.bindMemoryWindow(1, window, bind, SendFlag.SIGNALED),
                () -> closed.bindMemoryWindow(1, ofOtherType, bind, SendFlag.SIGNALED),
                () -> closed.bindMemoryWindow(1, window, bind, SendFlag.INLINE),
                closed::query,
                () -> closed.modify(new QueuePairAttributes().state(QueuePairState.ERR)),
                () -> closed.modify(new QueuePairAttributes().state(QueuePairState.RESET)),
                closed::sendRefusal,
                () -> closed.attachMulticast(group), () -> closed.attachMulticast(group, 0xc003),
                () -> closed.attachMulticast(group, 1),
                () -> closed.detachMulticast(group),
                () -> closed.attachFlow(RULE), () -> closed.isDataInOrder(SendOpcode.RDMA_WRITE),
                closed::enhancedConnectionOptions,
                () -> closed.enhancedConnectionOptions(new EnhancedConnectionOptions(1, 1)));
    }

    @Test
    void completionQueue() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        try (CompletionChannel channel = CompletionChannel.create()) {
            ExtendedCompletionQueue closed = context.createExtendedCompletionQueue(
                    new CompletionQueueInitAttributes().channel(channel));
            int capacity = closed.capacity();
            assertClosedOnce(closed);
            assertThat(closed.capacity()).isEqualTo(capacity);
            for (ThrowingCallable outOfOrder : List.<ThrowingCallable>of(closed::nextPoll,
                    closed::current, closed::endPoll)) {
                assertThatIllegalStateException().isThrownBy(outOfOrder);
            }
            assertNoneReachesTheLibrary(() -> closed.poll(new WorkCompletion()),
                    () -> closed.poll(WorkCompletion.array(2)), closed::startPoll,
                    () -> closed.poll(2, completion -> {}), closed::requestNotification,
                    () -> closed.requestSolicitedNotification(), () -> closed.resize(8),
                    () -> closed.resize(0),
                    () -> closed.moderate(-1, Duration.ZERO),
                    () -> closed.moderate(1, Duration.of(1, ChronoUnit.MICROS)),
                    () -> domain.createQueuePair(
                            new QueuePairInitAttributes().completionQueue(closed)));
        }
    }

    @Test
    void sharedReceiveQueue() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        SharedReceiveQueue closed = domain.createSharedReceiveQueue(shared());
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4)).sharedReceiveQueue(closed);
        assertClosedOnce(closed);
        assertNoneReachesTheLibrary(() -> closed.post(new ReceiveWorkRequest()),
                () -> closed.post(List.of(new ReceiveWorkRequest())), () -> closed.resize(8),
                () -> closed.resize(0), () -> closed.arm(1), () -> closed.arm(-1), closed::number,
                closed::query, () -> domain.createQueuePair(wanted));
    }

    @Test
    void protectionDomain() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain closed = context.allocateProtectionDomain();
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4));
        DeviceMemory own = context.allocateDeviceMemory(64, 8);
        assertClosedOnce(closed);
        assertNoneReachesTheLibrary(() -> closed.register(memory(), Set.of()),
                () -> closed.register(memory(), 0x1000, Set.of()),
                () -> closed.register(new MemoryRegionInitAttributes().segment(memory())),
                () -> closed.register(new MemoryRegionInitAttributes().deviceMemory(own, 0, 8)
                        .access(AccessFlag.ZERO_BASED)),
                () -> closed.allocateRegion(64, Set.of()), closed::registerNull,
                () -> closed.register(new MemoryRegionInitAttributes().dmaBuf(3, 0, 64)),
                () -> closed.advise(MemoryAdvice.PREFETCH, List.of(), AdviceFlag.FLUSH),
                () -> closed.allocateMemoryWindow(MemoryWindowType.TYPE_1),
                () -> closed.createParentDomain(new ParentDomainInitAttributes()),
                () -> closed.allocateRegion(-1, Set.of()),
                () -> closed.register(MemorySegment.NULL, Set.of()),
                () -> closed.register(new MemoryRegionInitAttributes()),
                () -> closed.createQueuePair(wanted),
                () -> closed.createSharedReceiveQueue(shared()),
                () -> closed.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0)));
    }

    @Test
    void parentDomainAndThreadDomain() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ThreadDomain ofOneThread = context.allocateThreadDomain();
        ProtectionDomain parent = domain
                .createParentDomain(new ParentDomainInitAttributes().threadDomain(ofOneThread));
        assertClosedOnce(parent);
        assertClosedOnce(ofOneThread);
        assertNoneReachesTheLibrary(
                () -> domain.createParentDomain(
                        new ParentDomainInitAttributes().threadDomain(ofOneThread)),
                () -> parent.register(memory(), Set.of()),
                () -> context.createCompletionQueue(
                        new CompletionQueueInitAttributes().parentDomain(parent)));
    }

    @Test
    void regionAndWindow() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(domain, QueuePairType.RC,
                context.createExtendedCompletionQueue(new CompletionQueueInitAttributes()));
        MemoryRegion region = domain.register(memory(), AccessFlag.LOCAL_WRITE,
                AccessFlag.MW_BIND);
        MemoryRegion other = domain.register(memory(), AccessFlag.LOCAL_WRITE,
                AccessFlag.MW_BIND);
        MemoryWindow first = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        MemoryWindow second = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindowBind toClosed = new MemoryWindowBind(region, region.address(), 8, Set.of());
        MemoryWindowBind toOpen = new MemoryWindowBind(other, other.address(), 8, Set.of());
        assertClosedOnce(region);
        assertNoneReachesTheLibrary(
                () -> region.reregister(new MemoryRegionChanges().segment(memory())),
                () -> queuePair.bindMemoryWindow(1, first, toClosed, SendFlag.SIGNALED),
                () -> queuePair.postSend(new SendWorkRequest().bind(second, 1, toClosed)));
        assertClosedOnce(first);
        assertClosedOnce(second);
        assertNoneReachesTheLibrary(
                () -> queuePair.bindMemoryWindow(1, first, toOpen, SendFlag.SIGNALED),
                () -> queuePair.postSend(new SendWorkRequest().bind(second, 1, toOpen)));
    }

    /** What a queue pair of a type has no use for is refused, but only while it is open. */
    @Test
    void queuePairThatHasNoFlowsAndGroups() throws Exception {
        NativeContext context = driver.open();
        QueuePair closed = ready(context.allocateProtectionDomain(), QueuePairType.RC,
                context.createExtendedCompletionQueue(new CompletionQueueInitAttributes()));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> closed.attachFlow(RULE))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        assertClosedOnce(closed);
        assertNoneReachesTheLibrary(() -> closed.attachFlow(RULE),
                () -> closed.attachMulticast(Gid.ZERO), () -> closed.detachMulticast(Gid.ZERO));
    }

    /** That the library or the driver has no such function is for those to know who have an open object. */
    @Test
    void functionsThatAreMissing() throws Exception {
        driver.library.remove(VerbsSymbol.SET_ECE);
        driver.library.remove(VerbsSymbol.QUERY_ECE);
        driver.put(ContextOperation.CREATE_FLOW.offset(), 0);
        driver.put(ContextOperation.MODIFY_CQ.offset(), 0);
        driver.put(ContextOperation.ADVISE_MR.offset(), 0);
        driver.put(ContextOperation.OPEN_XRCD.offset(), 0);
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ExtendedCompletionQueue queue = context
                .createExtendedCompletionQueue(new CompletionQueueInitAttributes());
        QueuePair queuePair = domain.createQueuePair(
                new QueuePairInitAttributes().type(QueuePairType.UD).completionQueue(queue));
        assertClosedOnce(queuePair);
        assertClosedOnce(queue);
        assertClosedOnce(domain);
        assertClosedOnce(context);
        assertNoneReachesTheLibrary(queuePair::enhancedConnectionOptions,
                () -> queuePair.enhancedConnectionOptions(new EnhancedConnectionOptions(1, 1)),
                () -> queuePair.attachFlow(RULE),
                () -> queue.moderate(1, Duration.of(1, ChronoUnit.MICROS)),
                () -> domain.advise(MemoryAdvice.PREFETCH, List.of()), context::openXrcDomain,
                () -> context.openXrcDomain(Path.of("no such file")));
    }

    @Test
    void addressHandle() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(domain, QueuePairType.UD,
                context.createExtendedCompletionQueue(new CompletionQueueInitAttributes()));
        AddressHandle closed = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        assertClosedOnce(closed);
        assertNoneReachesTheLibrary(
                () -> queuePair.postSend(new SendWorkRequest().to(closed, 1, 2)));
    }

    @Test
    void deviceMemory() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        DeviceMemory closed = context.allocateDeviceMemory(64, 8);
        assertClosedOnce(closed);
        assertNoneReachesTheLibrary(() -> closed.copyFrom(0, memory()),
                () -> closed.copyTo(0, memory()),
                () -> domain.register(new MemoryRegionInitAttributes().deviceMemory(closed, 0, 8)
                        .access(AccessFlag.ZERO_BASED)));
    }

    @Test
    void flow() throws Exception {
        NativeContext context = driver.open();
        QueuePair queuePair = ready(context.allocateProtectionDomain(), QueuePairType.UD,
                context.createExtendedCompletionQueue(new CompletionQueueInitAttributes()));
        Flow closed = queuePair.attachFlow(RULE);
        assertClosedOnce(closed);
    }

    @Test
    void extendedReliableConnections() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        XrcDomain connections = context.openXrcDomain();
        SharedReceiveQueueInitAttributes wanted = shared().type(SharedReceiveQueueType.XRC)
                .xrcDomain(connections).completionQueue(context.createCompletionQueue(4));
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(wanted);
        QueuePairInitAttributes receiving = new QueuePairInitAttributes()
                .type(QueuePairType.XRC_RECEIVE);
        QueuePair queuePair = connections.createQueuePair(receiving);
        assertClosedOnce(queue);
        assertClosedOnce(queuePair);
        assertNoneReachesTheLibrary(queuePair::sendRefusal, () -> queuePair.attachFlow(RULE),
                () -> queuePair.attachMulticast(Gid.ZERO),
                () -> queuePair.detachMulticast(Gid.ZERO), queue::number,
                () -> queue.post(new ReceiveWorkRequest()),
                queuePair::query,
                () -> queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR)),
                () -> queuePair.postSend(new SendWorkRequest()),
                () -> queuePair.postReceive(new ReceiveWorkRequest()),
                () -> queuePair.isDataInOrder(SendOpcode.RDMA_WRITE),
                queuePair::enhancedConnectionOptions,
                () -> queuePair.enhancedConnectionOptions(new EnhancedConnectionOptions(1, 1)));
        assertClosedOnce(connections);
        assertNoneReachesTheLibrary(() -> connections.createQueuePair(receiving),
                () -> connections.openQueuePair(1, null));
        int before = driver.entered();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> domain.createSharedReceiveQueue(wanted));
        // The device was asked whether it has them, by both queries of a device.
        assertThat(driver.entered()).isEqualTo(before + 2);
    }

    @Test
    void context() throws Exception {
        NativeContext closed = driver.open();
        assertClosedOnce(closed);
        assertNoneReachesTheLibrary(closed::queryDevice, closed::queryClock,
                () -> closed.queryPort(1), () -> closed.queryPortSpeedMbps(1),
                () -> closed.queryGid(1, 0), () -> closed.queryGidEntry(1, 0),
                closed::queryGidTable, () -> closed.queryPkey(1, 0),
                () -> closed.pkeyIndex(1, 0xffff),
                () -> closed.resolveEthernet(AddressHandleAttributes.to(Gid.ZERO, 0)),
                () -> closed.pathBack(1, new WorkCompletion(), memory()),
                closed::allocateProtectionDomain, () -> closed.createCompletionQueue(4),
                () -> closed.createExtendedCompletionQueue(new CompletionQueueInitAttributes()),
                () -> closed.createExtendedCompletionQueue(
                        new CompletionQueueInitAttributes().capacity(0)),
                closed::openXrcDomain, () -> closed.openXrcDomain(Path.of("pom.xml")),
                closed::allocateThreadDomain, () -> closed.allocateDeviceMemory(64, 8));
        assertThat(closed.counters()).isEmpty();
    }
}
