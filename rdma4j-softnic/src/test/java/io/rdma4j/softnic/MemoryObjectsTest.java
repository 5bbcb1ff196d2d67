// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.ThreadDomain;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Regions that change, regions of no memory and of device memory, parent domains. */
class MemoryObjectsTest {
    private final Pair pair = new Pair();
    private final ProtectionDomain domain = pair.b.node.domain;

    MemoryObjectsTest() throws Exception {}

    private static void assertRefused(ThrowingCallable call, Errno errno, String words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .withMessageContaining(words);
    }

    private void write(long id, long address, int rkey, int length) throws RdmaException {
        pair.a.queuePair.postSend(
                pair.a.request(id).write(address, rkey).add(pair.a.region, 0, length));
        pair.settle();
    }

    // ---------------------------------------------------------------- memory of the region's own

    @Test
    void regionHasMemoryOfItsOwnUntilItIsClosed() throws Exception {
        MemoryRegion region = domain.allocateRegion(10_000, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        MemorySegment memory = region.segment();
        assertThat(memory.byteSize()).isEqualTo(10_000);
        assertThat(memory.address() % 4096).isZero();
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        write(1, region.address(), region.rkey(), 10);
        assertThat(memory.asSlice(0, 10).mismatch(pair.a.memory.asSlice(0, 10))).isEqualTo(-1);
        assertRefused(
                () -> region
                        .reregister(new MemoryRegionChanges().segment(Arena.ofAuto().allocate(8))),
                Errno.EINVAL, "memory of its own");
        region.close();
        assertThatIllegalStateException().isThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0));
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void regionOfNoBytesOrOfMoreThanThereIsIsRefused() {
        assertRefused(() -> domain.allocateRegion(0), Errno.EINVAL, "at least 1 byte");
        assertRefused(() -> domain.allocateRegion(Long.MAX_VALUE), Errno.ENOMEM, "bytes");
        assertRefused(() -> domain.allocateRegion(8, AccessFlag.REMOTE_WRITE), Errno.EINVAL,
                "LOCAL_WRITE");
    }

    // ---------------------------------------------------------------- changed registrations

    @Test
    void regionMovesToOtherMemory() throws Exception {
        MemorySegment other = Arena.ofAuto().allocate(100);
        MemoryRegion region = pair.b.region;
        int key = region.rkey();
        region.reregister(new MemoryRegionChanges().segment(other));
        assertThat(region.rkey()).isEqualTo(key);
        assertThat(region.address()).isEqualTo(other.address());
        assertThat(region.length()).isEqualTo(100);
        write(1, other.address(), key, 100);
        assertThat(other.mismatch(pair.a.memory.asSlice(0, 100))).isEqualTo(-1);
        write(2, pair.b.memory.address(), key, 100);
        pair.a.assertCompleted("1 SUCCESS", "2 REMOTE_ACCESS_ERROR");
    }

    @Test
    void regionLosesAndGainsRights() throws Exception {
        MemoryRegion region = pair.b.region;
        region.reregister(new MemoryRegionChanges().access(AccessFlag.LOCAL_WRITE));
        assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE);
        write(1, region.address(), region.rkey(), 10);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void regionMovesToAnotherDomainAndBack() throws Exception {
        ProtectionDomain other = pair.b.node.context.allocateProtectionDomain();
        MemoryRegion region = pair.b.region;
        region.reregister(new MemoryRegionChanges().protectionDomain(other));
        assertThat(region.protectionDomain()).isEqualTo(other);
        assertRefused(other::close, Errno.EBUSY, "1 memory region");
        region.reregister(new MemoryRegionChanges().protectionDomain(domain));
        other.close();
        write(1, region.address(), region.rkey(), 10);
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void impossibleChangesAreRefusedAndChangeNothing() throws Exception {
        MemoryRegion region = pair.b.region;
        assertRefused(
                () -> region.reregister(
                        new MemoryRegionChanges().segment(MemorySegment.ofArray(new byte[8]))),
                Errno.EINVAL, "heap");
        assertRefused(
                () -> region.reregister(new MemoryRegionChanges().access(AccessFlag.REMOTE_WRITE)),
                Errno.EINVAL, "LOCAL_WRITE");
        assertRefused(
                () -> region
                        .reregister(new MemoryRegionChanges().protectionDomain(pair.a.node.domain)),
                Errno.EINVAL,
                "another device context");
        write(1, region.address(), region.rkey(), 10);
        pair.a.assertCompleted("1 SUCCESS");
        region.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> region.reregister(new MemoryRegionChanges().access(Set.of())));
    }

    // ---------------------------------------------------------------- special regions

    @Test
    void zeroBasedRegionCountsFromZero() throws Exception {
        MemoryRegion region = domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED);
        assertThat(region.address()).isZero();
        write(1, Pair.MEMORY / 2, region.rkey(), 100);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(100)).isTrue();
    }

    @Test
    void memoryOfAnotherDeviceIsRefused() {
        assertRefused(
                () -> pair.a.node.domain
                        .register(new MemoryRegionInitAttributes().dmaBuf(0, 0, 4096)),
                Errno.EOPNOTSUPP, "dma-buf");
    }

    @Test
    void nullRegionTakesEverythingAndGivesZeros() throws Exception {
        MemoryRegion nothing = pair.b.node.domain.registerNull();
        pair.b.queuePair.postReceive(new ReceiveWorkRequest().id(10)
                .add(12345, 5000, nothing.lkey()).add(pair.b.region, Pair.MEMORY / 2, 1000));
        pair.a.send(1, 6000);
        pair.settle();
        pair.b.assertCompleted("10 SUCCESS");
        assertThat(MemorySegment.mismatch(pair.b.memory, Pair.MEMORY / 2, Pair.MEMORY / 2 + 1000,
                pair.a.memory, 5000, 6000)).isEqualTo(-1);
        MemoryRegion zeros = pair.a.node.domain.registerNull();
        pair.a.queuePair.postSend(
                pair.a.request(2).write(pair.b.region.address(), pair.b.region.rkey())
                        .add(0, 6000, zeros.lkey()));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.b.memory.asSlice(0, 6000).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0);
        assertRefused(
                () -> nothing.reregister(new MemoryRegionChanges().access(AccessFlag.LOCAL_WRITE)),
                Errno.EINVAL, "no memory");
        write(3, 0, nothing.rkey(), 8);
        pair.a.assertCompleted("3 REMOTE_ACCESS_ERROR");
    }

    @Test
    void deviceMemoryIsReachedByCopyingAndByPeers() throws Exception {
        DeviceMemory memory = pair.b.node.context.allocateDeviceMemory(4096, 64);
        memory.copyFrom(8, MemorySegment.ofArray(new byte[]{1, 2, 3}));
        byte[] copy = new byte[4];
        memory.copyTo(7, MemorySegment.ofArray(copy));
        assertThat(copy).containsExactly(0, 1, 2, 3);
        MemoryRegion region = domain.register(new MemoryRegionInitAttributes()
                .deviceMemory(memory, 1024, 1024).access(AccessFlag.ZERO_BASED,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        assertThat(region.segment().byteSize()).isZero();
        assertThat(region.length()).isEqualTo(1024);
        write(1, 24, region.rkey(), 1000);
        pair.a.assertCompleted("1 SUCCESS");
        byte[] arrived = new byte[1000];
        memory.copyTo(1048, MemorySegment.ofArray(arrived));
        assertThat(MemorySegment.ofArray(arrived).mismatch(pair.a.memory.asSlice(0, 1000)))
                .isEqualTo(-1);
        assertRefused(memory::close, Errno.EBUSY, "1 memory region");
        region.close();
        memory.close();
        memory.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> memory.copyTo(0, MemorySegment.ofArray(copy)));
    }

    @Test
    void deviceMemoryHasLimits() throws Exception {
        assertRefused(() -> pair.b.node.context.allocateDeviceMemory(0, 1), Errno.EINVAL, "size");
        assertRefused(() -> pair.b.node.context.allocateDeviceMemory(8, 3), Errno.EINVAL,
                "power of two");
        DeviceMemory all = pair.b.node.context.allocateDeviceMemory(1L << 26, 1);
        assertRefused(() -> pair.b.node.context.allocateDeviceMemory(1, 1), Errno.ENOMEM, "0");
        assertRefused(() -> all.copyTo((1L << 26) - 1, MemorySegment.ofArray(new byte[2])),
                Errno.EINVAL, "not inside");
        assertRefused(
                () -> domain.register(new MemoryRegionInitAttributes().deviceMemory(all, 0, 8)),
                Errno.EINVAL, "ZERO_BASED");
        all.close();
        pair.b.node.context.allocateDeviceMemory(1, 1).close();
    }

    @Test
    void regionLiesInOneMemory() {
        assertRefused(() -> domain.register(new MemoryRegionInitAttributes()), Errno.EINVAL,
                "one of segment, device memory and dma-buf; 0 of them are set");
        assertRefused(() -> domain.register(new MemoryRegionInitAttributes().segment(pair.b.memory)
                .dmaBuf(3, 0, 8)), Errno.EINVAL, "2 of them are set");
    }

    @Test
    void adviceIsCheckedAndTaken() throws Exception {
        MemoryRegion region = pair.b.region;
        domain.advise(MemoryAdvice.PREFETCH_WRITE,
                List.of(ScatterGatherElement.of(region, 0, 4096)), AdviceFlag.FLUSH);
        assertRefused(
                () -> domain.advise(MemoryAdvice.PREFETCH,
                        List.of(new ScatterGatherElement(0, 8, region.lkey() + 1))),
                Errno.ENOENT, "no region");
        assertRefused(
                () -> domain.advise(MemoryAdvice.PREFETCH,
                        List.of(ScatterGatherElement.of(region, Pair.MEMORY - 4, 8))),
                Errno.EFAULT, "not inside");
        MemoryRegion readable = domain.register(pair.b.memory, Set.of());
        assertRefused(
                () -> domain.advise(MemoryAdvice.PREFETCH_WRITE,
                        List.of(ScatterGatherElement.of(readable, 0, 8))),
                Errno.EINVAL, "LOCAL_WRITE");
    }

    // ---------------------------------------------------------------- parent domains

    @Test
    void parentDomainSharesRegionsAndGivesQueuesTheirMemory() throws Exception {
        List<MemorySegment> given = new ArrayList<>();
        BufferAllocator allocator = new BufferAllocator() {
            @Override
            public MemorySegment allocate(ProtectionDomain of, long byteSize, long byteAlignment) {
                MemorySegment memory = Arena.ofAuto().allocate(byteSize, byteAlignment);
                given.add(memory);
                return memory;
            }

            @Override
            public void free(ProtectionDomain of, MemorySegment memory) {
                assertThat(given.remove(memory)).isTrue();
            }
        };
        ThreadDomain thread = pair.a.node.context.allocateThreadDomain();
        ProtectionDomain parent = pair.a.node.domain.createParentDomain(
                new ParentDomainInitAttributes().threadDomain(thread).allocator(allocator));
        QueuePair queuePair = parent.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(pair.a.completionQueue)
                .capabilities(QueuePairCapabilities.ofDepth(4, 4).withInlineData(16)));
        assertThat(given).hasSize(1);
        Pair.Side a = pair.new Side(pair.a.node, pair.a.completionQueue, queuePair);
        Pair.Side b = pair.new Side(pair.b.node);
        a.connect(b, new Pair.Settings());
        b.connect(a, new Pair.Settings());
        queuePair.postSend(new SendWorkRequest().id(1).set(SendFlag.SIGNALED)
                .write(b.region.address(), b.region.rkey()).add(pair.a.region, 0, 100));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertRefused(thread::close, Errno.EBUSY, "1 parent domain");
        assertRefused(parent::close, Errno.EBUSY, "1 queue pair");
        queuePair.close();
        assertThat(given).isEmpty();
        parent.close();
        thread.close();
        thread.close();
    }

    @Test
    void memoryOfInlineDataIsGivenBackWhenNobodyWritesItAnyMore() throws Exception {
        List<MemorySegment> given = new ArrayList<>();
        ProtectionDomain parent = pair.a.node.domain.createParentDomain(
                new ParentDomainInitAttributes().allocator(new BufferAllocator() {
                    @Override
                    public MemorySegment allocate(ProtectionDomain of, long byteSize,
                            long byteAlignment) {
                        given.add(Arena.ofAuto().allocate(byteSize, byteAlignment));
                        return given.getLast();
                    }

                    @Override
                    public void free(ProtectionDomain of, MemorySegment memory) {
                        assertThat(given.remove(memory)).isTrue();
                    }
                }));
        QueuePair queuePair = parent.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(pair.a.completionQueue).sendOperations(SendOpcode.SEND)
                .capabilities(QueuePairCapabilities.ofDepth(4, 4).withInlineData(16)));
        SendBatch batch = queuePair.startBatch();
        batch.send().inline(MemorySegment.ofArray(new byte[8]));
        queuePair.close();
        assertThat(given).hasSize(1);
        batch.inline(MemorySegment.ofArray(new byte[8]));
        batch.close();
        assertThat(given).isEmpty();
        parent.close();
    }

    @Test
    void allocatorMustGiveMemoryThatEveryThreadMayUse() throws Exception {
        try (Arena confined = Arena.ofConfined()) {
            ProtectionDomain parent = pair.a.node.domain.createParentDomain(
                    new ParentDomainInitAttributes().allocator(new BufferAllocator() {
                        @Override
                        public MemorySegment allocate(ProtectionDomain of, long byteSize,
                                long byteAlignment) {
                            return confined.allocate(byteSize, byteAlignment);
                        }

                        @Override
                        public void free(ProtectionDomain of, MemorySegment memory) {
                            throw new AssertionError("nothing was taken");
                        }
                    }));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> parent.createQueuePair(new QueuePairInitAttributes()
                            .completionQueue(pair.a.completionQueue)
                            .capabilities(QueuePairCapabilities.ofDepth(4, 4).withInlineData(16))))
                    .withMessageContaining("confined");
            parent.close();
        }
    }
}
