// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttr;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttrEx;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Layout.WorkCompletion;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetMatch;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.PhysicalState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Libraries and drivers that are older, newer or broken: what they leave away is not called, what they say of sizes is not
 * believed without a limit, and the library gets the size of each buffer.
 */
class LyingLibraryTest {
    private final FakeDriver driver = new FakeDriver();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private interface Call {
        void run() throws Exception;
    }

    private static void assertErrno(Errno errno, Call call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call::run).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
        });
    }

    // ---------------------------------------------------------------- sizes

    /** Pointers of functions would be read from memory that is not the structure's. */
    @ParameterizedTest
    @ValueSource(longs = {0, 327, -1, Long.MIN_VALUE, 1 << 20, 0x5555_5555_5555_5555L})
    void structureOfASizeThatNoVersionHasIsRefusedAndTheDeviceClosed(long size) {
        driver.put(Context.EXTENSION_SIZE, size);
        assertErrno(Errno.EOPNOTSUPP, driver::open);
        assertThat(driver.called(VerbsSymbol.CLOSE_DEVICE)).isOne();
    }

    /** Those of rdma-core 44 and 65, and one without functions in front of the context. */
    @ParameterizedTest
    @ValueSource(longs = {648, 696, 336})
    void structureOfAnyVersionIsTaken(long size) throws RdmaException {
        driver.put(Context.EXTENSION_SIZE, size);
        driver.open().close();
    }

    /** A newer library does not write the fields behind those that are read here, because it gets the length. */
    @Test
    void librariesAreToldHowMuchRoomThereIs() throws RdmaException {
        Map<String, Long> lengths = new ConcurrentHashMap<>();
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            lengths.put("port", arguments[3]);
            Native.putInt(Native.at(arguments[2], PortAttr.SIZE), PortAttr.GID_TBL_LEN, 3);
            return 0;
        });
        driver.operation(ContextOperation.QUERY_DEVICE_EX, arguments -> {
            lengths.put("device", arguments[3]);
            return 0;
        });
        driver.library.define(VerbsSymbol.QUERY_GID, arguments -> {
            Native.putLong(Native.at(arguments[3], Long.BYTES), 0, 1);
            return 0;
        });
        driver.library.define(VerbsSymbol.QUERY_GID_EX, arguments -> {
            lengths.put("entry", arguments[5]);
            return 0;
        });
        driver.library.define(VerbsSymbol.QUERY_GID_TABLE, arguments -> {
            lengths.put("table", arguments[4]);
            return 0;
        });
        NativeContext context = driver.open();
        context.queryPort(1);
        context.queryDevice();
        context.queryGidEntry(1, 0);
        context.queryGidTable();
        assertThat(lengths).containsOnly(Map.entry("port", 52L), Map.entry("device", 400L),
                Map.entry("entry", 32L), Map.entry("table", 32L));
        assertThat(DeviceAttrEx.SIZE).isEqualTo(400);
    }

    @Test
    void tableOfGidsHasRoomForThoseOfAllPorts() throws RdmaException {
        int[] lengths = {2, 7};
        driver.library.define(VerbsSymbol.QUERY_DEVICE, arguments -> {
            Native.putByte(Native.at(arguments[1], DeviceAttr.SIZE), DeviceAttr.PHYS_PORT_CNT, 2);
            return 0;
        });
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            Native.putInt(Native.at(arguments[2], PortAttr.SIZE), PortAttr.GID_TBL_LEN,
                    lengths[(int) arguments[1] - 1]);
            return 0;
        });
        List<Long> room = new ArrayList<>();
        driver.library.define(VerbsSymbol.QUERY_GID_TABLE, arguments -> {
            room.add(arguments[2]);
            return 0;
        });
        NativeContext context = driver.open();
        assertThat(context.queryGidTable()).isEmpty();
        lengths[0] = Integer.MAX_VALUE;
        lengths[1] = -1;
        assertThat(context.queryGidTable()).isEmpty();
        assertThat(room).containsExactly(9L, 8192L);
    }

    // ---------------------------------------------------------------- nonsense

    private static long nonsense(long address, long size, int fill) {
        Native.at(address, size).fill((byte) fill);
        return 0;
    }

    /** Bytes of structures that the driver has filled with anything. */
    @ParameterizedTest
    @ValueSource(ints = {0xff, 0x55, 0x80})
    void nonsenseThatADriverTellsEndsNothing(int fill) throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4)));
        SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4));
        for (VerbsSymbol symbol : new VerbsSymbol[]{VerbsSymbol.QUERY_DEVICE,
            VerbsSymbol.QUERY_QP, VerbsSymbol.QUERY_SRQ, VerbsSymbol.QUERY_GID,
            VerbsSymbol.QUERY_PKEY, VerbsSymbol.QUERY_PORT, VerbsSymbol.QUERY_GID_EX,
            VerbsSymbol.QUERY_ECE}) {
            driver.instead(symbol, arguments -> switch (symbol) {
                case QUERY_DEVICE -> nonsense(arguments[1], DeviceAttr.SIZE, fill);
                case QUERY_QP -> nonsense(arguments[1], QueuePairAttr.SIZE, fill);
                case QUERY_SRQ -> nonsense(arguments[1], 12, fill);
                case QUERY_GID -> nonsense(arguments[3], 16, fill);
                case QUERY_PKEY -> nonsense(arguments[3], 2, fill);
                case QUERY_PORT -> nonsense(arguments[2], PortAttr.SIZE, fill);
                case QUERY_GID_EX -> nonsense(arguments[3], 32, fill);
                default -> nonsense(arguments[1], 12, fill);
            });
        }
        for (Call call : new Call[]{context::queryDevice, () -> context.queryPort(1),
            () -> context.queryPortSpeedMbps(1),
            () -> context.queryGid(1, 0), () -> context.queryGidEntry(1, 0),
            context::queryGidTable, () -> context.queryPkey(1, 0),
            queuePair::enhancedConnectionOptions, queuePair::query, shared::query}) {
            try {
                call.run();
            } catch (RdmaException refused) {
                assertThat(refused.getMessage()).doesNotContain("\n");
            } catch (Exception other) {
                throw new AssertionError(other);
            }
        }
        queuePair.close();
        shared.close();
        domain.close();
    }

    /** All but the number of the request and the status. */
    @ParameterizedTest
    @ValueSource(ints = {0xff, 0x55, 0x80})
    void completionOfNonsenseIsOneAllTheSame(int fill) throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
        FakeDriver.ready(queuePair);
        io.rdma4j.verbs.WorkCompletion found = new io.rdma4j.verbs.WorkCompletion();
        for (int status : new int[]{0, 5, -1, 99}) {
            queuePair.postSend(new SendWorkRequest().id(7));
            MemorySegment completion = driver.complete(
                    Native.getLong(driver.posted.getLast(), SendRequest.WR_ID), 0, 0);
            completion.asSlice(Long.BYTES).fill((byte) fill);
            Native.putInt(completion, WorkCompletion.STATUS, status);
            assertThat(queue.poll(found)).isTrue();
            assertThat(found.id()).isEqualTo(7);
            assertThat(found.status() == WorkCompletionStatus.SUCCESS).isEqualTo(status == 0);
        }
    }

    /** A number that was never given. */
    @Test
    void completionOfARequestThatNobodyPostedIsDropped() throws RdmaException {
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        for (long number : new long[]{0, -1, Long.MIN_VALUE, 0x7fff_ffff_0000_0003L}) {
            driver.complete(number, 0, 0);
            assertThat(queue.poll(new io.rdma4j.verbs.WorkCompletion())).isFalse();
        }
    }

    // ---------------------------------------------------------------- numbers of newer versions

    @Test
    void numbersOfADeviceThatThisVersionDoesNotKnowAreTold() throws RdmaException {
        driver.capabilities = DeviceCapability.XRC.bit() | 1 << 31 | 1 << 15;
        driver.atomics = 7;
        driver.operation(ContextOperation.QUERY_DEVICE_EX, arguments -> {
            MemorySegment attributes = Native.at(arguments[2], DeviceAttrEx.SIZE);
            Native.putInt(attributes, DeviceAttr.DEVICE_CAP_FLAGS, driver.capabilities);
            Native.putInt(attributes, DeviceAttr.ATOMIC_CAP, driver.atomics);
            Native.putInt(attributes, DeviceAttrEx.ODP_RC, 1 << 30 | 1);
            Native.putInt(attributes, DeviceAttrEx.ODP_UD, 1 << 30);
            return 0;
        });
        DeviceAttributes device = driver.open().queryDevice();
        assertThat(device.capabilities()).containsExactly(DeviceCapability.XRC);
        assertThat(device.capabilityFlags()).isEqualTo(driver.capabilities);
        assertThat(device.atomicCapability()).isEqualTo(AtomicCapability.UNKNOWN);
        assertThat(device.atomicCapabilityCode()).isEqualTo(7);
        assertThat(device.onDemandPaging()).containsOnly(
                Map.entry(QueuePairType.RC, Set.of(OnDemandCapability.SEND)));
        assertThat(device.onDemandPagingBits()).containsOnly(
                Map.entry(QueuePairType.RC, 1 << 30 | 1), Map.entry(QueuePairType.UD, 1 << 30));
    }

    @ParameterizedTest
    @CsvSource({"6, 9, MTU_4096, MTU_4096", "3, 0, MTU_1024, MTU_256", "5, -1, MTU_4096, MTU_256"})
    void numbersOfAPortThatThisVersionDoesNotKnowAreTold(int maxMtu, int activeMtu, Mtu max,
            Mtu active) throws RdmaException {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            MemorySegment port = Native.at(arguments[2], PortAttr.SIZE);
            Native.putInt(port, PortAttr.STATE, 66);
            Native.putInt(port, PortAttr.MAX_MTU, maxMtu);
            Native.putInt(port, PortAttr.ACTIVE_MTU, activeMtu);
            Native.putByte(port, PortAttr.PHYS_STATE, 88);
            Native.putByte(port, PortAttr.LINK_LAYER, 200);
            Native.putByte(port, PortAttr.FLAGS, 0x81);
            return 0;
        });
        PortAttributes port = driver.open().queryPort(1);
        assertThat(port.state()).isEqualTo(PortState.UNKNOWN);
        assertThat(port.stateCode()).isEqualTo(66);
        assertThat(port.maxMtu()).isEqualTo(max);
        assertThat(port.maxMtuCode()).isEqualTo(maxMtu);
        assertThat(port.activeMtu()).isEqualTo(active);
        assertThat(port.activeMtuCode()).isEqualTo(activeMtu);
        assertThat(port.physicalState()).isEqualTo(PhysicalState.UNKNOWN);
        assertThat(port.physicalStateCode()).isEqualTo(88);
        assertThat(port.linkLayer()).isEqualTo(LinkLayer.UNKNOWN);
        assertThat(port.linkLayerCode()).isEqualTo(200);
        assertThat(port.flags()).containsExactly(PortFlag.GRH_REQUIRED);
        assertThat(port.flagBits()).isEqualTo(0x81);
    }

    /** A wrong state would be worse than none. */
    @Test
    void stateOfAQueuePairThatThisVersionDoesNotKnowIsAnError() throws RdmaException {
        NativeContext context = driver.open();
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(context.createCompletionQueue(4)));
        driver.instead(VerbsSymbol.QUERY_QP, arguments -> {
            Native.putInt(Native.at(arguments[1], QueuePairAttr.SIZE), QueuePairAttr.QP_STATE, 77);
            return 0;
        });
        assertErrno(Errno.EIO, queuePair::query);
        driver.instead(VerbsSymbol.QUERY_QP, arguments -> {
            Native.putInt(Native.at(arguments[1], QueuePairAttr.SIZE),
                    QueuePairAttr.PATH_MIG_STATE, 9);
            return 0;
        });
        assertThat(queuePair.query().mask())
                .contains(QueuePairAttribute.STATE)
                .doesNotContain(QueuePairAttribute.PATH_MIGRATION_STATE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 2, 1 << 4 | 1 << 6, 1 << 7 | 1, 1 << 31 | 1 << 12 | 2, -1 & ~2})
    void flagsOfACompletionAreThoseThatTheDriverGave(int flags) throws RdmaException {
        // Without check sums, the flag for them stands for another one (DriverFaults).
        driver.capabilities = DeviceCapability.RC_IP_CSUM.bit();
        NativeContext context = driver.open();
        CompletionQueue queue = context.createCompletionQueue(4);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
        FakeDriver.ready(queuePair);
        queuePair.postSend(new SendWorkRequest().id(7));
        MemorySegment completion = driver.complete(
                Native.getLong(driver.posted.getLast(), SendRequest.WR_ID), 0, 0);
        Native.putInt(completion, WorkCompletion.WC_FLAGS, flags);
        io.rdma4j.verbs.WorkCompletion found = new io.rdma4j.verbs.WorkCompletion();
        assertThat(queue.poll(found)).isTrue();
        assertThat(found.flags()).isEqualTo(flags);
        for (WorkCompletionFlag flag : WorkCompletionFlag.values()) {
            assertThat(found.has(flag)).isEqualTo((flags & flag.bit()) != 0);
        }
    }

    // ---------------------------------------------------------------- null pointers

    @Test
    void deviceThatCannotBePostedToOrPolledIsRefusedAndClosed() {
        for (ContextOperation needed : new ContextOperation[]{ContextOperation.POST_SEND,
            ContextOperation.POST_RECV, ContextOperation.POLL_CQ,
            ContextOperation.REQ_NOTIFY_CQ}) {
            FakeDriver without = new FakeDriver();
            without.put(needed.offset(), 0);
            assertErrno(Errno.EOPNOTSUPP, without::open);
            assertThat(without.called(VerbsSymbol.CLOSE_DEVICE)).isOne();
        }
    }

    /** Each call of the interface that takes a function which drivers may lack. */
    @Test
    void functionThatADriverLacksIsNotCalled() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ExtendedCompletionQueue queue = context
                .createExtendedCompletionQueue(new CompletionQueueInitAttributes());
        QueuePair datagrams = domain.createQueuePair(
                new QueuePairInitAttributes().type(QueuePairType.UD).completionQueue(queue));
        for (Call call : new Call[]{
            () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_1), domain::registerNull,
            () -> domain.advise(MemoryAdvice.PREFETCH, List.of(), AdviceFlag.FLUSH),
            () -> domain.createParentDomain(new ParentDomainInitAttributes()),
            context::allocateThreadDomain,
            () -> context.allocateDeviceMemory(64, 8), context::queryClock,
            context::openXrcDomain, () -> queue.moderate(1, Duration.of(1, ChronoUnit.MICROS)),
            () -> context.createCompletionQueue(
                    new CompletionQueueInitAttributes().ignoreOverrun(true)),
            () -> context.createCompletionQueue(new CompletionQueueInitAttributes()
                    .fields(CompletionField.COMPLETION_TIMESTAMP)),
            () -> domain.createQueuePair(new QueuePairInitAttributes().type(QueuePairType.UD)
                    .completionQueue(queue).blockSelfMulticastLoopback(true)),
            () -> domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                    .sendOperations(SendOpcode.FLUSH)),
            () -> datagrams.attachFlow(FlowRule.of(EthernetMatch.ANY))}) {
            assertErrno(Errno.EOPNOTSUPP, call);
        }
    }

    /** An older version of the library. */
    @Test
    void functionThatALibraryLacksIsNotCalled() throws RdmaException {
        for (VerbsSymbol symbol : VerbsSymbol.values()) {
            if (!symbol.isRequired()) {
                driver.library.remove(symbol);
            }
        }
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4)));
        assertErrno(Errno.EOPNOTSUPP, queuePair::enhancedConnectionOptions);
        assertErrno(Errno.EOPNOTSUPP,
                () -> domain.register(new MemoryRegionInitAttributes().dmaBuf(3, 0, 64)));
        assertErrno(Errno.EOPNOTSUPP,
                () -> domain.register(Arena.global().allocate(64), 0x1000, Set.of()));
        assertThat(queuePair.isDataInOrder(SendOpcode.RDMA_WRITE)).isFalse();
    }

    @Test
    void deviceMemoryThatCannotBeCopiedIsNotCopied() throws RdmaException {
        driver.operation(ContextOperation.ALLOC_DM,
                arguments -> driver.object(Layout.DeviceMemory.SIZE));
        driver.operation(ContextOperation.FREE_DM, arguments -> 0);
        NativeContext context = driver.open();
        DeviceMemory memory = context.allocateDeviceMemory(64, 8);
        MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
        assertErrno(Errno.EOPNOTSUPP, () -> memory.copyFrom(0, bytes));
        assertErrno(Errno.EOPNOTSUPP, () -> memory.copyTo(0, bytes));
        assertErrno(Errno.EOPNOTSUPP, () -> context.allocateProtectionDomain()
                .register(new MemoryRegionInitAttributes().deviceMemory(memory, 0, 8)
                        .access(AccessFlag.ZERO_BASED)));
        memory.close();
    }

    /** The device says that it has FLUSH, and its library that it has extended queue pairs. */
    @Test
    void extendedQueuePairWithoutItsFunctionsIsFreed() throws RdmaException {
        driver.operation(ContextOperation.QUERY_DEVICE_EX, arguments -> {
            Native.putLong(Native.at(arguments[2], DeviceAttrEx.SIZE), DeviceAttrEx.CAP_FLAGS_EX,
                    -1);
            return 0;
        });
        driver.operation(ContextOperation.CREATE_QP_EX,
                arguments -> driver.object(Layout.QueuePairEx.SIZE));
        driver.library.define(VerbsSymbol.QP_TO_QP_EX, arguments -> arguments[0]);
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4))
                .sendOperations(SendOpcode.FLUSH);
        assertErrno(Errno.EOPNOTSUPP, () -> domain.createQueuePair(wanted));
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
        domain.close();
    }

    @Test
    void sharedReceiveQueueOfADriverThatPostsToNoneIsNotMade() throws RdmaException {
        driver.put(ContextOperation.POST_SRQ_RECV.offset(), 0);
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EOPNOTSUPP, () -> domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4)));
        assertThat(driver.called(VerbsSymbol.CREATE_SRQ)).isZero();
    }

    // ---------------------------------------------------------------- events

    /** Once an event is acknowledged its object may be freed, and the library give the address to a new one. */
    @Test
    void eventIsOfTheObjectThatHadTheAddressWhenItWasRead() throws Exception {
        List<String> heard = new ArrayList<>();
        CountDownLatch isOver = new CountDownLatch(1);
        NativeContext[] opened = new NativeContext[1];
        driver.library.define(VerbsSymbol.ACK_ASYNC_EVENT, arguments -> {
            long element = Native.getLong(Native.at(arguments[0], Layout.AsyncEvent.SIZE),
                    Layout.AsyncEvent.ELEMENT);
            Objects.requireNonNull(opened[0]).services().events().queuePairs().put(element,
                    type -> {
                        heard.add("the new one");
                        isOver.countDown();
                    });
            return 0;
        });
        NativeContext context = driver.open();
        opened[0] = context;
        long address = driver.object(160);
        context.services().events().queuePairs().put(address, type -> {
            heard.add("the old one");
            isOver.countDown();
        });
        driver.report(AsyncEventType.QP_FATAL, address);
        assertThat(isOver.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(heard).containsExactly("the old one");
    }

    /** Its number is newer than this. */
    @Test
    void eventThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        NativeContext context = driver.open();
        driver.report(99, 1);
        try (AsyncEvent event = context.asyncEventChannel().awaitEvent()) {
            assertThat(event.type()).isEqualTo(AsyncEventType.UNKNOWN);
            assertThat(event.typeCode()).isEqualTo(99);
            assertThat(event.port()).isZero();
            assertThat(event).hasToString("event 99");
        }
        driver.report(AsyncEventType.PORT_ERROR, 1);
        try (AsyncEvent event = context.asyncEventChannel().awaitEvent()) {
            assertThat(event.type()).isEqualTo(AsyncEventType.PORT_ERROR);
            assertThat(event.typeCode()).isEqualTo(10);
            assertThat(event.port()).isOne();
        }
    }
}
