// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.AllocDeviceMemory;
import io.rdma4j.ibverbs.abi.Layout.CompletionQueueEx;
import io.rdma4j.ibverbs.abi.Layout.CompletionQueueInitAttrEx;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttrEx;
import io.rdma4j.ibverbs.abi.Layout.ParentDomainInitAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairEx;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.ObjectFunction;
import io.rdma4j.ibverbs.abi.Signature;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.CallChoice;
import io.rdma4j.ibverbs.queue.ExtendedPosting;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What some devices have and others not, over a library made of Java. */
class ExtendedVerbsTest {
    private static final long FLUSH_AND_ATOMIC_WRITE = 1L << 38 | 1L << 40;
    private static final long PEER = 0x1000_2000_3000L;
    private static final int RKEY = 0x0bad_cafe;

    private final FakeDriver driver = new FakeDriver();
    private final Arena arena = Arena.ofShared();
    private int maxInline = 16;
    /** What the driver was asked, in order. */
    private final List<String> asked = new ArrayList<>();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
        arena.close();
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
        });
    }

    private long newObject(long size) {
        return arena.allocate(size, 8).address();
    }

    private MemorySegment copyOf(long address, long size) {
        return arena.allocate(size, 8).copyFrom(Native.at(address, size));
    }

    private void put(long object, long offset, Signature signature,
            FakeLibrary.Function function) {
        Native.putLong(Native.at(object + offset, Long.BYTES), 0,
                driver.library.stub(signature, function).address());
    }

    private void put(long object, ObjectFunction place, FakeLibrary.Function function) {
        put(object, place.offset(), place.signature(), function);
    }

    // ---------------------------------------------------------------- domains

    private void offerDomains() {
        driver.operation(ContextOperation.ALLOC_TD, arguments -> newObject(8));
        driver.operation(ContextOperation.DEALLOC_TD, arguments -> {
            asked.add("free thread domain");
            return 0;
        });
    }

    @Test
    void parentDomainNamesItsDomainAndItsThreadDomain() throws RdmaException {
        offerDomains();
        List<MemorySegment> written = new ArrayList<>();
        driver.operation(ContextOperation.ALLOC_PARENT_DOMAIN, arguments -> {
            written.add(copyOf(arguments[1], ParentDomainInitAttr.SIZE));
            return newObject(16);
        });
        NativeContext context = driver.open();
        NativeProtectionDomain domain = (NativeProtectionDomain) context
                .allocateProtectionDomain();
        ThreadDomain ofOneThread = context.allocateThreadDomain();
        ProtectionDomain parent = domain
                .createParentDomain(new ParentDomainInitAttributes().threadDomain(ofOneThread));
        MemorySegment attributes = written.getFirst();
        assertThat(Native.getLong(attributes, ParentDomainInitAttr.PD))
                .isEqualTo(domain.services().pointer());
        assertThat(Native.getLong(attributes, ParentDomainInitAttr.TD))
                .isEqualTo(((NativeThreadDomain) ofOneThread).pointer());
        assertThat(attributes.asSlice(16).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        assertErrno(Errno.EBUSY, domain::close);
        assertErrno(Errno.EBUSY, ofOneThread::close);
        assertErrno(Errno.EINVAL,
                () -> parent.createParentDomain(new ParentDomainInitAttributes()));
        parent.close();
        ofOneThread.close();
        domain.close();
        assertThat(asked).containsExactly("free thread domain");
        context.close();
    }

    @Test
    void memoryOfADomainIsThatOfItsParentDomain() throws RdmaException {
        driver.operation(ContextOperation.ALLOC_PARENT_DOMAIN, arguments -> newObject(16));
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ProtectionDomain parent = domain.createParentDomain(new ParentDomainInitAttributes());
        MemorySegment memory = arena.allocate(64);
        memory.setAtIndex(ValueLayout.JAVA_LONG, 0, 42);
        MemoryRegion region = domain.register(memory, Set.of(AccessFlag.LOCAL_WRITE));
        QueuePair queuePair = ready(parent, context.createCompletionQueue(4),
                new QueuePairInitAttributes());
        queuePair.postSend(new SendWorkRequest().send().set(SendFlag.INLINE)
                .add(region.address(), 8, region.lkey()));
        MemorySegment element = driver.element(driver.posted.getFirst(), 0);
        assertThat(Native.getLong(Native.at(Native.getLong(element, 0), Long.BYTES), 0))
                .isEqualTo(42);
    }

    @Test
    void allocatorOfAParentDomainIsRefused() throws RdmaException {
        driver.operation(ContextOperation.ALLOC_PARENT_DOMAIN, arguments -> newObject(16));
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        BufferAllocator allocator = new BufferAllocator() {
            @Override
            public MemorySegment allocate(ProtectionDomain parent, long byteSize,
                    long byteAlignment) {
                return arena.allocate(byteSize, byteAlignment);
            }

            @Override
            public void free(ProtectionDomain parent, MemorySegment memory) {
                // With the arena.
            }
        };
        int before = driver.entered();
        assertErrno(Errno.EOPNOTSUPP, () -> domain
                .createParentDomain(new ParentDomainInitAttributes().allocator(allocator)));
        assertThat(driver.entered()).isEqualTo(before);
        domain.createParentDomain(new ParentDomainInitAttributes()).close();
    }

    // ---------------------------------------------------------------- arenas under registrations

    @Test
    void registrationEndsSoonAfterItsArenaWasClosed() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        driver.library.define(VerbsSymbol.DEREG_MR, arguments -> {
            asked.add("deregister");
            ended.countDown();
            return 0;
        });
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        Arena closing = Arena.ofShared();
        MemoryRegion region = domain.register(closing.allocate(64), Set.of());
        MemoryRegion kept = domain.register(arena.allocate(64), Set.of());
        closing.close();
        assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
        assertErrno(Errno.EBUSY, domain::close);
        region.close();
        assertThat(asked).hasSize(1);
        kept.close();
        domain.close();
        assertThat(asked).hasSize(2);
    }

    @Test
    void regionOwnsItsMemoryAndGivesItBackAfterTheDevice() throws RdmaException {
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        MemoryRegion region = domain.allocateRegion(3L << 20, AccessFlag.LOCAL_WRITE);
        MemorySegment memory = region.segment();
        assertThat(memory.address() % (2L << 20)).isZero();
        assertThat(region.length()).isEqualTo(3L << 20);
        driver.library.define(VerbsSymbol.DEREG_MR, arguments -> {
            asked.add("alive " + memory.scope().isAlive());
            return 0;
        });
        assertErrno(Errno.EINVAL,
                () -> region.reregister(new MemoryRegionChanges().segment(arena.allocate(8))));
        region.close();
        assertThat(memory.scope().isAlive()).isFalse();
        driver.failures.put(VerbsSymbol.REG_MR_IOVA2, Errno.ENOMEM.number());
        assertErrno(Errno.ENOMEM, () -> domain.allocateRegion(4096));
        assertErrno(Errno.EINVAL, () -> domain.allocateRegion(0));
    }

    // ---------------------------------------------------------------- device memory

    @Test
    void deviceMemoryIsAllocatedCopiedAndRegistered() throws RdmaException {
        List<MemorySegment> written = new ArrayList<>();
        long memory = newObject(Layout.DeviceMemory.SIZE);
        MemorySegment cells = arena.allocate(4096);
        put(memory, ObjectFunction.MEMCPY_TO_DM, arguments -> {
            cells.asSlice(arguments[1], arguments[3])
                    .copyFrom(Native.at(arguments[2], arguments[3]));
            return 0;
        });
        put(memory, ObjectFunction.MEMCPY_FROM_DM, arguments -> {
            Native.at(arguments[0], arguments[3])
                    .copyFrom(cells.asSlice(arguments[2], arguments[3]));
            return 0;
        });
        driver.operation(ContextOperation.ALLOC_DM, arguments -> {
            written.add(copyOf(arguments[1], AllocDeviceMemory.SIZE));
            return memory;
        });
        driver.operation(ContextOperation.FREE_DM, arguments -> 0);
        driver.operation(ContextOperation.REG_DM_MR, arguments -> {
            asked.add("register " + arguments[2] + " " + arguments[3] + " " + arguments[4]);
            return newObject(Layout.MemoryRegion.SIZE);
        });
        NativeContext context = driver.open();
        DeviceMemory own = context.allocateDeviceMemory(4096, 64);
        assertThat(Native.getLong(written.getFirst(), AllocDeviceMemory.LENGTH)).isEqualTo(4096);
        assertThat(Native.getInt(written.getFirst(), AllocDeviceMemory.LOG_ALIGN_REQ))
                .isEqualTo(6);
        own.copyFrom(100, MemorySegment.ofArray(new byte[]{1, 2, 3}));
        byte[] back = new byte[3];
        own.copyTo(100, MemorySegment.ofArray(back));
        assertThat(back).containsExactly(1, 2, 3);
        assertErrno(Errno.EINVAL, () -> own.copyTo(4094, MemorySegment.ofArray(back)));

        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion region = domain.register(new MemoryRegionInitAttributes()
                .deviceMemory(own, 8, 1000)
                .access(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED));
        assertThat(asked).containsExactly("register 8 1000 "
                + (AccessFlag.LOCAL_WRITE.bit() | AccessFlag.ZERO_BASED.bit()));
        assertThat(region.length()).isEqualTo(1000);
        assertErrno(Errno.EBUSY, own::close);
        assertErrno(Errno.EINVAL, () -> domain.register(new MemoryRegionInitAttributes()
                .deviceMemory(own, 4000, 97).access(AccessFlag.ZERO_BASED)));
        region.close();
        own.close();
        domain.close();
        context.close();
    }

    @Test
    void deviceMemoryOfNoSizeOrAnOddAlignmentIsRefused() {
        assertErrno(Errno.EINVAL, () -> driver.open().allocateDeviceMemory(0, 1));
        assertErrno(Errno.EINVAL, () -> driver.open().allocateDeviceMemory(8, 3));
        assertErrno(Errno.EOPNOTSUPP, () -> driver.open().allocateDeviceMemory(8, 4));
    }

    // ---------------------------------------------------------------- memory of another device

    @Test
    void dmaBufIsRegisteredByItsDescriptor() throws RdmaException {
        List<long[]> calls = new ArrayList<>();
        driver.library.define(VerbsSymbol.REG_DMABUF_MR, arguments -> {
            calls.add(arguments.clone());
            return newObject(Layout.MemoryRegion.SIZE);
        });
        NativeProtectionDomain domain = (NativeProtectionDomain) driver.open()
                .allocateProtectionDomain();
        MemoryRegion region = domain.register(new MemoryRegionInitAttributes().dmaBuf(7, 8192, 4096)
                .iova(PEER).access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        assertThat(calls.getFirst()).containsExactly(domain.services().pointer(), 8192, 4096, PEER,
                7,
                1 | 2);
        assertThat(region.address()).isEqualTo(PEER);
        assertThat(region.length()).isEqualTo(4096);
        assertThat(region.segment()).isEqualTo(MemorySegment.NULL);
        assertErrno(Errno.EBUSY, domain::close);
        region.close();
        domain.close();
    }

    @Test
    void dmaBufThatCannotBeRegisteredDoesNotReachTheLibrary() throws RdmaException {
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EINVAL,
                () -> domain.register(new MemoryRegionInitAttributes().dmaBuf(-1, 0, 8)));
        assertErrno(Errno.EINVAL,
                () -> domain.register(new MemoryRegionInitAttributes().dmaBuf(7, -1, 8)));
        assertErrno(Errno.EINVAL,
                () -> domain.register(new MemoryRegionInitAttributes().dmaBuf(7, 0, 0)));
        assertErrno(Errno.EINVAL, () -> domain.register(
                new MemoryRegionInitAttributes().dmaBuf(7, 0, 8).access(AccessFlag.REMOTE_WRITE)));
        assertThat(driver.called(VerbsSymbol.REG_DMABUF_MR)).isZero();
        driver.failures.put(VerbsSymbol.REG_DMABUF_MR, Errno.EOPNOTSUPP.number());
        assertErrno(Errno.EOPNOTSUPP,
                () -> domain.register(new MemoryRegionInitAttributes().dmaBuf(7, 0, 8)));
        domain.close();
        driver.library.remove(VerbsSymbol.REG_DMABUF_MR);
        ProtectionDomain ofAnOlder = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EOPNOTSUPP,
                () -> ofAnOlder.register(new MemoryRegionInitAttributes().dmaBuf(7, 0, 8)));
    }

    // ---------------------------------------------------------------- timestamps

    /** A queue of the library with these completions, given as `wr_id`s. */
    private long timedQueue(List<Long> ids, int[] statuses) {
        long queue = newObject(CompletionQueueEx.SIZE);
        MemorySegment structure = Native.at(queue, CompletionQueueEx.SIZE);
        Native.putInt(structure, Layout.CompletionQueue.CQE, 16);
        int[] at = {-1};
        Signature intOf = ContextOperation.DEALLOC_TD.signature();
        Signature longOf = ContextOperation.ALLOC_NULL_MR.signature();
        FakeLibrary.Function next = arguments -> {
            if (at[0] + 1 == ids.size()) {
                return Errno.ENOENT.number();
            }
            at[0]++;
            Native.putLong(structure, CompletionQueueEx.WR_ID, ids.get(at[0]));
            Native.putInt(structure, CompletionQueueEx.STATUS, statuses[at[0]]);
            return 0;
        };
        put(queue, CompletionQueueEx.START_POLL, ContextOperation.QUERY_RT_VALUES.signature(),
                arguments -> {
                    asked.add("start");
                    return next.call(arguments);
                });
        put(queue, CompletionQueueEx.NEXT_POLL, intOf, next);
        put(queue, CompletionQueueEx.END_POLL, ObjectFunction.WR_START.signature(), arguments -> {
            asked.add("end");
            return 0;
        });
        put(queue, CompletionQueueEx.READ_OPCODE, intOf,
                arguments -> WorkCompletionOpcode.RECEIVE.code());
        put(queue, CompletionQueueEx.READ_VENDOR_ERR, intOf, arguments -> 77);
        put(queue, CompletionQueueEx.READ_BYTE_LEN, intOf, arguments -> 1234);
        put(queue, CompletionQueueEx.READ_IMM_DATA, intOf, arguments -> 0);
        put(queue, CompletionQueueEx.READ_QP_NUM, intOf, arguments -> 9);
        put(queue, CompletionQueueEx.READ_SRC_QP, intOf, arguments -> 10);
        put(queue, CompletionQueueEx.READ_WC_FLAGS, intOf, arguments -> 0);
        put(queue, CompletionQueueEx.READ_SLID, intOf, arguments -> 0x1_0011);
        put(queue, CompletionQueueEx.READ_SL, intOf, arguments -> 0x104);
        put(queue, CompletionQueueEx.READ_DLID_PATH_BITS, intOf, arguments -> 0x105);
        put(queue, CompletionQueueEx.READ_COMPLETION_TS, longOf,
                arguments -> 0x1234_5678_9abc_def0L);
        put(queue, CompletionQueueEx.READ_COMPLETION_WALLCLOCK_NS, longOf, arguments -> 555);
        return queue;
    }

    @Test
    void completionsTellWhenTheyCameAboutInOneGo() throws RdmaException {
        List<Long> ids = new ArrayList<>();
        long queue = timedQueue(ids, new int[]{0, 5});
        List<MemorySegment> written = new ArrayList<>();
        driver.operation(ContextOperation.CREATE_CQ_EX, arguments -> {
            written.add(copyOf(arguments[1], CompletionQueueInitAttrEx.SIZE));
            return queue;
        });
        NativeContext context = driver.open();
        CompletionQueue timed = context.createCompletionQueue(new CompletionQueueInitAttributes()
                .capacity(16).fields(CompletionField.COMPLETION_TIMESTAMP,
                        CompletionField.COMPLETION_WALLCLOCK));
        MemorySegment attributes = written.getFirst();
        assertThat(Native.getInt(attributes, CompletionQueueInitAttrEx.CQE)).isEqualTo(16);
        assertThat(Native.getLong(attributes, CompletionQueueInitAttrEx.WC_FLAGS))
                .isEqualTo(0x7f | 1 << 7 | 1 << 11);
        assertThat(Native.getInt(attributes, CompletionQueueInitAttrEx.COMP_MASK)).isZero();
        QueuePair queuePair = ready(context.allocateProtectionDomain(), timed,
                new QueuePairInitAttributes());
        queuePair.postSend(new SendWorkRequest().id(1).send());
        queuePair.postSend(new SendWorkRequest().id(2).send());
        driver.posted.forEach(request -> ids.add(Native.getLong(request, SendRequest.WR_ID)));

        WorkCompletion[] completions = {new WorkCompletion(), new WorkCompletion(),
            new WorkCompletion()};
        assertThat(timed.poll(completions)).isEqualTo(2);
        assertThat(asked).containsExactly("start", "end");
        WorkCompletion good = completions[0];
        assertThat(good.id()).isEqualTo(1);
        assertThat(good.byteLength()).isEqualTo(1234);
        assertThat(good.queuePairNumber()).isEqualTo(9);
        assertThat(good.sourceLid()).isEqualTo(0x11);
        assertThat(good.serviceLevel()).isEqualTo(4);
        assertThat(good.destinationPathBits()).isEqualTo(5);
        assertThat(good.completionTimestamp()).isEqualTo(0x1234_5678_9abc_def0L);
        assertThat(good.completionWallclockNs()).isEqualTo(555);
        assertThat(completions[1].status())
                .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        assertThat(completions[1].vendorError()).isEqualTo(77);
        assertThat(completions[1].completionTimestamp()).isZero();
        assertThat(timed.poll(completions)).isZero();
        assertThat(asked).containsExactly("start", "end", "start");
    }

    @Test
    void queueWhoseDriverCannotTellTheTimeIsFreed() {
        long queue = timedQueue(List.of(), new int[0]);
        Native.putLong(Native.at(queue, CompletionQueueEx.SIZE),
                CompletionQueueEx.READ_COMPLETION_TS, 0);
        driver.operation(ContextOperation.CREATE_CQ_EX, arguments -> queue);
        assertErrno(Errno.EOPNOTSUPP,
                () -> driver.open().createCompletionQueue(new CompletionQueueInitAttributes()
                        .fields(CompletionField.COMPLETION_TIMESTAMP)));
        assertThat(driver.called(VerbsSymbol.DESTROY_CQ)).isOne();
    }

    @Test
    void flagsAndParentDomainOfAQueueAreHandedOn() throws RdmaException {
        List<MemorySegment> written = new ArrayList<>();
        long queue = timedQueue(List.of(), new int[0]);
        driver.operation(ContextOperation.CREATE_CQ_EX, arguments -> {
            written.add(copyOf(arguments[1], CompletionQueueInitAttrEx.SIZE));
            return queue;
        });
        driver.operation(ContextOperation.ALLOC_PARENT_DOMAIN, arguments -> newObject(16));
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        NativeProtectionDomain parent = (NativeProtectionDomain) domain
                .createParentDomain(new ParentDomainInitAttributes());
        CompletionQueueInitAttributes wanted = new CompletionQueueInitAttributes()
                .singleThreaded(true).ignoreOverrun(true);
        assertErrno(Errno.EINVAL, () -> context.createCompletionQueue(
                new CompletionQueueInitAttributes().parentDomain(domain)));
        CompletionQueue made = context.createCompletionQueue(wanted.parentDomain(parent));
        MemorySegment attributes = written.getFirst();
        assertThat(Native.getInt(attributes, CompletionQueueInitAttrEx.COMP_MASK)).isEqualTo(3);
        assertThat(Native.getInt(attributes, CompletionQueueInitAttrEx.FLAGS)).isEqualTo(3);
        assertThat(Native.getLong(attributes, CompletionQueueInitAttrEx.PARENT_DOMAIN))
                .isEqualTo(parent.services().pointer());
        assertErrno(Errno.EBUSY, parent::close);
        made.close();
        parent.close();
    }

    // ---------------------------------------------------------------- FLUSH and atomic writes

    private QueuePair ready(ProtectionDomain domain, CompletionQueue queue,
            QueuePairInitAttributes wanted) throws RdmaException {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        QueuePair queuePair = domain.createQueuePair(wanted.type(QueuePairType.RC)
                .completionQueue(queue)
                .capabilities(new QueuePairCapabilities(8, 4, 2, 2, maxInline)));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .accessFlags(Set.of()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(Gid.ZERO, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(7).receivePsn(1).maxDestinationReadAtomic(1)
                .minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14)
                .retryCount(7).rnrRetry(7).maxReadAtomic(1));
        return queuePair;
    }

    /** Has the driver offer extended queue pairs. Their creation is written to the list. */
    private long offerExtended(List<MemorySegment> written) {
        long queuePair = newObject(QueuePairEx.SIZE);
        driver.operation(ContextOperation.QUERY_DEVICE_EX, arguments -> {
            Native.putLong(Native.at(arguments[2], DeviceAttrEx.SIZE), DeviceAttrEx.CAP_FLAGS_EX,
                    FLUSH_AND_ATOMIC_WRITE);
            return 0;
        });
        driver.operation(ContextOperation.CREATE_QP_EX, arguments -> {
            written.add(copyOf(arguments[1], QueuePairInitAttr.EXTENDED_SIZE));
            return queuePair;
        });
        driver.library.define(VerbsSymbol.QP_TO_QP_EX, arguments -> arguments[0]);
        MemorySegment structure = Native.at(queuePair, QueuePairEx.SIZE);
        put(queuePair, ObjectFunction.WR_START, arguments -> {
            asked.add("start after " + driver.posted.size());
            return 0;
        });
        put(queuePair, ObjectFunction.WR_COMPLETE, arguments -> {
            asked.add("complete");
            return driver.postAnswer;
        });
        put(queuePair, ObjectFunction.WR_ABORT, arguments -> {
            asked.add("abort");
            return 0;
        });
        put(queuePair, ObjectFunction.WR_FLUSH, arguments -> {
            asked.add(String.format("flush %x %x %d %d %d flags %d", (int) arguments[1],
                    arguments[2], arguments[3], arguments[4], arguments[5],
                    Native.getInt(structure, QueuePairEx.WR_FLAGS)));
            return 0;
        });
        put(queuePair, ObjectFunction.WR_ATOMIC_WRITE, arguments -> {
            asked.add(String.format("write %x %x %d flags %d", (int) arguments[1], arguments[2],
                    Native.getLong(Native.at(arguments[3], Long.BYTES), 0),
                    Native.getInt(structure, QueuePairEx.WR_FLAGS)));
            return 0;
        });
        return queuePair;
    }

    @Test
    void flushAndAtomicWriteKeepTheirPlaceAmongOthers() throws RdmaException {
        List<MemorySegment> written = new ArrayList<>();
        offerExtended(written);
        NativeContext context = driver.open();
        QueuePair queuePair = ready(context.allocateProtectionDomain(),
                context.createCompletionQueue(16), new QueuePairInitAttributes()
                        .sendOperations(SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE));
        MemorySegment attributes = written.getFirst();
        assertThat(Native.getInt(attributes, QueuePairInitAttr.COMP_MASK))
                .isEqualTo(1 | 1 << 6);
        assertThat(Native.getLong(attributes, QueuePairInitAttr.SEND_OPS_FLAGS))
                .isEqualTo(1 << 11 | 1 << 12);
        MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_LONG, 99);
        queuePair.postSend(List.of(new SendWorkRequest().write(PEER, RKEY),
                new SendWorkRequest().write(PEER, RKEY),
                new SendWorkRequest().flush(PEER, RKEY, 4096, Set.of(FlushPlacement.GLOBAL),
                        FlushSelectivity.MEMORY_REGION).set(SendFlag.SIGNALED),
                new SendWorkRequest().send()));
        queuePair.startBatch().flags(SendFlag.SIGNALED).atomicWrite(PEER, RKEY, value).post();
        assertThat(asked).containsExactly("start after 2",
                "flush badcafe 100020003000 4096 1 1 flags " + SendFlag.SIGNALED.bit(), "complete",
                "start after 3",
                "write badcafe 100020003000 99 flags " + SendFlag.SIGNALED.bit(), "complete");
        assertThat(driver.posted).extracting(r -> Native.getLong(r, SendRequest.NEXT) == 0)
                .containsExactly(false, true, true);
    }

    /** The next post would wait for the driver's lock for ever. */
    @Test
    void requestThatCannotBeWrittenIsAbortedAndItsLockGivenBack() throws RdmaException {
        long queuePair = offerExtended(new ArrayList<>());
        ExtendedPosting posting = new ExtendedPosting(driver.open().services(), queuePair,
                Set.of(SendOpcode.FLUSH));
        assertThatExceptionOfType(StackOverflowError.class)
                .isThrownBy(() -> posting.inOneGo(1, 0, () -> {
                    throw new StackOverflowError();
                }));
        assertThat(asked).containsExactly("start after 0", "abort");
    }

    /** A critical call of another thread would wait for the driver's lock while the JVM has stopped who has it. */
    @Test
    void whatHoldsALockOfTheDriverBetweenCallsDoesNotGoWithCriticalCalls() throws RdmaException {
        driver.vendorId = 0x02c9;
        offerExtended(new ArrayList<>());
        driver.operation(ContextOperation.CREATE_CQ_EX,
                arguments -> timedQueue(List.of(), new int[0]));
        System.setProperty(CallChoice.PROPERTY, "true");
        try {
            NativeContext context = driver.open();
            ProtectionDomain domain = context.allocateProtectionDomain();
            CompletionQueue queue = context.createCompletionQueue(16);
            assertErrno(Errno.EOPNOTSUPP, () -> domain.createQueuePair(new QueuePairInitAttributes()
                    .completionQueue(queue).sendOperations(SendOpcode.FLUSH)));
            assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
            assertErrno(Errno.EOPNOTSUPP,
                    () -> context.createCompletionQueue(new CompletionQueueInitAttributes()
                            .fields(CompletionField.COMPLETION_TIMESTAMP)));
            assertThat(driver.called(VerbsSymbol.DESTROY_CQ)).isOne();
        } finally {
            System.clearProperty(CallChoice.PROPERTY);
        }
    }

    @Test
    void atomicWriteNeedsNoInlineDataOfTheQueuePair() throws RdmaException {
        offerExtended(new ArrayList<>());
        maxInline = 0;
        NativeContext context = driver.open();
        QueuePair queuePair = ready(context.allocateProtectionDomain(),
                context.createCompletionQueue(16),
                new QueuePairInitAttributes().sendOperations(SendOpcode.ATOMIC_WRITE));
        queuePair.startBatch()
                .atomicWrite(PEER, RKEY, arena.allocateFrom(ValueLayout.JAVA_LONG, 7)).post();
        assertThat(asked).contains("write badcafe 100020003000 7 flags 0");
    }

    @Test
    void refusedFlushIsTakenBack() throws RdmaException {
        offerExtended(new ArrayList<>());
        NativeContext context = driver.open();
        QueuePair queuePair = ready(context.allocateProtectionDomain(),
                context.createCompletionQueue(16),
                new QueuePairInitAttributes().sendOperations(SendOpcode.FLUSH));
        SendWorkRequest flush = new SendWorkRequest().flush(PEER, RKEY, 1,
                Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
        driver.postAnswer = Errno.ENOMEM.number();
        for (int i = 0; i < 20; i++) {
            assertErrno(Errno.ENOMEM, () -> queuePair.postSend(flush));
        }
        driver.postAnswer = 0;
        for (int i = 0; i < 8; i++) {
            queuePair.postSend(flush);
        }
        assertErrno(Errno.ENOMEM, () -> queuePair.postSend(flush));
    }

    @Test
    void flushIsRefusedWhereTheDeviceHasNone() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4));
        assertErrno(Errno.EOPNOTSUPP,
                () -> domain.createQueuePair(wanted.sendOperations(SendOpcode.FLUSH)));
    }

    @Test
    void ownMulticastsAreBlockedByTheFlagOfTheHeaders() throws RdmaException {
        List<MemorySegment> written = new ArrayList<>();
        offerExtended(written);
        NativeContext context = driver.open();
        context.allocateProtectionDomain().createQueuePair(new QueuePairInitAttributes()
                .type(QueuePairType.UD).blockSelfMulticastLoopback(true)
                .completionQueue(context.createCompletionQueue(4)));
        MemorySegment attributes = written.getFirst();
        assertThat(Native.getInt(attributes, QueuePairInitAttr.COMP_MASK)).isEqualTo(1 | 1 << 2);
        assertThat(Native.getInt(attributes, QueuePairInitAttr.CREATE_FLAGS)).isEqualTo(2);
    }
}
