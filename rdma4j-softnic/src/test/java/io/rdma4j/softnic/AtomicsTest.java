// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Atomic operations, atomic writes and FLUSH on a reliable connection. */
class AtomicsTest {
    private static final int RESULT = 1024;

    private final Pair pair = new Pair();

    AtomicsTest() throws Exception {}

    private SendWorkRequest add(long id, long amount) {
        return pair.a.request(id).fetchAndAdd(pair.b.region.address(), pair.b.region.rkey(), amount)
                .add(pair.a.region, RESULT, 8);
    }

    private SendWorkRequest swap(long id, long compare, long value) {
        return pair.a.request(id)
                .compareAndSwap(pair.b.region.address(), pair.b.region.rkey(), compare, value)
                .add(pair.a.region, RESULT, 8);
    }

    private static long word(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    private void post(SendWorkRequest request) throws RdmaException {
        pair.a.queuePair.postSend(request);
        pair.settle();
    }

    @Test
    void fetchAndAddAddsAndBringsTheOldValue() throws Exception {
        pair.b.memory.set(ValueLayout.JAVA_LONG, 0, 40);
        post(add(1, 2));
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(word(pair.b.memory, 0)).isEqualTo(42);
        assertThat(word(pair.a.memory, RESULT)).isEqualTo(40);
    }

    @Test
    void compareAndSwapSwapsOnlyWhatItExpects() throws Exception {
        pair.b.memory.set(ValueLayout.JAVA_LONG, 0, 7);
        post(swap(1, 8, 9));
        assertThat(word(pair.b.memory, 0)).isEqualTo(7);
        assertThat(word(pair.a.memory, RESULT)).isEqualTo(7);
        post(swap(2, 7, 9));
        assertThat(word(pair.b.memory, 0)).isEqualTo(9);
        assertThat(word(pair.a.memory, RESULT)).isEqualTo(7);
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
    }

    @Test
    void atomicIsCarriedOutOnceWhenItsAnswerIsLost() throws Exception {
        pair.b.memory.set(ValueLayout.JAVA_LONG, 0, 0);
        AtomicInteger lost = new AtomicInteger(2);
        pair.simulation.network
                .loseIf(packet -> packet.opcode() == Opcode.RC_ATOMIC_ACKNOWLEDGE
                        && lost.getAndDecrement() > 0);
        post(add(1, 5));
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(word(pair.b.memory, 0)).isEqualTo(5);
        assertThat(word(pair.a.memory, RESULT)).isZero();
    }

    @Test
    void atomicIsCarriedOutWithOnePlaceForIt() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.readAtomic = 1;
        Pair narrow = new Pair(settings);
        narrow.b.memory.set(ValueLayout.JAVA_LONG, 0, 1);
        for (int i = 0; i < 5; i++) {
            narrow.a.queuePair.postSend(narrow.a.request(i)
                    .fetchAndAdd(narrow.b.region.address(), narrow.b.region.rkey(), 1)
                    .add(narrow.a.region, RESULT, 8));
        }
        narrow.settle();
        narrow.a.assertCompleted("0 SUCCESS", "1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
        assertThat(word(narrow.b.memory, 0)).isEqualTo(6);
    }

    @Test
    void addressThatIsNoMultipleOfEightIsRefusedWhenPosted() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(pair.a.request(1)
                        .fetchAndAdd(pair.b.region.address() + 1, pair.b.region.rkey(), 1)
                        .add(pair.a.region, RESULT, 8)))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining("multiple of 8");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair.postSend(pair.a.request(1)
                        .fetchAndAdd(pair.b.region.address(), pair.b.region.rkey(), 1)
                        .add(pair.a.region, RESULT, 4)))
                .withMessageContaining("8 bytes");
    }

    @Test
    void memoryThatIsNotAlignedUnderItsAddressIsRefusedByThePeer() throws Exception {
        MemoryRegion odd = pair.b.node.domain.register(pair.b.memory.asSlice(1, 64), 0x1000,
                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
        post(pair.a.request(1).fetchAndAdd(0x1000, odd.rkey(), 1).add(pair.a.region, RESULT, 8));
        pair.a.assertCompleted("1 REMOTE_INVALID_REQUEST_ERROR");
    }

    @Test
    void regionWithoutTheRightIsARemoteAccessError() throws Exception {
        MemoryRegion plain = pair.b.node.domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        post(pair.a.request(1).fetchAndAdd(plain.address(), plain.rkey(), 1).add(pair.a.region,
                RESULT, 8));
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    // ---------------------------------------------------------------- atomic write

    @Test
    void atomicWriteWritesEightBytes() throws Exception {
        pair.a.memory.set(ValueLayout.JAVA_LONG, 0, 0x0102_0304_0506_0708L);
        post(pair.a.request(1).atomicWrite(pair.b.region.address() + 8, pair.b.region.rkey())
                .add(pair.a.region, 0, 8));
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(word(pair.b.memory, 8)).isEqualTo(0x0102_0304_0506_0708L);
    }

    @Test
    void repeatedAtomicWriteIsNotCarriedOutAgain() throws Exception {
        AtomicInteger answers = new AtomicInteger();
        pair.simulation.network.loseIf(packet -> {
            boolean isAnswer = packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY
                    && answers.getAndIncrement() == 0;
            if (isAnswer) {
                // The owner has changed the word since: the repeated request must not change it back.
                pair.b.memory.set(ValueLayout.JAVA_LONG, 8, 99);
            }
            return isAnswer;
        });
        post(pair.a.request(1).atomicWrite(pair.b.region.address() + 8, pair.b.region.rkey())
                .inline(MemorySegment.ofArray(new long[]{5})));
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(word(pair.b.memory, 8)).isEqualTo(99);
    }

    // ---------------------------------------------------------------- FLUSH

    private SendWorkRequest flush(long id, MemoryRegion region, FlushSelectivity selectivity,
            FlushPlacement... placement) {
        return pair.a.request(id).flush(region.address(), region.rkey(), 64, Set.of(placement),
                selectivity);
    }

    @Test
    void flushOfARangeOrAWholeRegionSucceeds() throws Exception {
        post(flush(1, pair.b.region, FlushSelectivity.RANGE, FlushPlacement.GLOBAL));
        post(flush(2, pair.b.region, FlushSelectivity.MEMORY_REGION, FlushPlacement.GLOBAL));
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
    }

    @Test
    void flushToPersistenceOfARegionWithoutTheRightIsARemoteAccessError() throws Exception {
        post(flush(1, pair.b.region, FlushSelectivity.RANGE, FlushPlacement.PERSISTENT));
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void flushToPersistenceWritesAMappedFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("memory");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096,
                    Arena.ofShared());
            MemoryRegion region = pair.b.node.domain.register(mapped, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE, AccessFlag.FLUSH_PERSISTENT);
            pair.a.queuePair.postSend(new SendWorkRequest().write(region.address(), region.rkey())
                    .add(pair.a.region, 0, 64));
            post(flush(1, region, FlushSelectivity.RANGE, FlushPlacement.PERSISTENT));
            pair.a.assertCompleted("1 SUCCESS");
            assertThat(mapped.asSlice(0, 64).mismatch(pair.a.memory.asSlice(0, 64))).isEqualTo(-1);
        }
    }

    /** {@return a region of the peer's that maps a file} */
    private MemoryRegion mapped(Path folder, Arena arena) throws Exception {
        try (FileChannel channel = FileChannel.open(folder.resolve("mapped"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return pair.b.node.domain.register(
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena),
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.FLUSH_PERSISTENT);
        }
    }

    private SendWorkRequest persist(long id, MemoryRegion region) {
        return flush(id, region, FlushSelectivity.RANGE, FlushPlacement.PERSISTENT);
    }

    @Test
    void flushOnASlowDiskHoldsUpNobodyElse(@TempDir Path folder) throws Exception {
        MemoryRegion region = mapped(folder, Arena.ofShared());
        Bystander other = new Bystander(pair, 1);
        pair.b.node.isDiskSlow = true;
        pair.a.queuePair.postSend(persist(1, region));
        pair.run(20_000_000);
        other.assertUnharmedWithin(20_000_000);
        pair.a.assertCompleted();
        finishToPersist();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void whatComesBehindAFlushWaitsForIt(@TempDir Path folder) throws Exception {
        MemoryRegion region = mapped(folder, Arena.ofShared());
        pair.b.node.isDiskSlow = true;
        pair.b.receive(9, 64);
        pair.a.queuePair.postSend(pair.a.request(1).write(region.address(), region.rkey())
                .add(pair.a.region, 0, 64));
        pair.a.queuePair.postSend(persist(2, region));
        pair.a.queuePair.postSend(pair.a.request(3).write(region.address() + 64, region.rkey())
                .add(pair.a.region, 0, 64));
        pair.a.send(4, 64);
        pair.run(2_000_000);
        assertThat(region.segment().asSlice(0, 64).mismatch(pair.a.memory.asSlice(0, 64)))
                .isEqualTo(-1);
        assertThat(word(region.segment(), 64)).isZero();
        pair.b.assertCompleted();
        assertThat(pair.b.node.disk).hasSize(1);
        pair.b.node.isDiskSlow = false;
        // What came too early is sent again without waiting for a time-out.
        pair.run(2_000_000);
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
        pair.b.assertCompleted("9 SUCCESS");
    }

    @Test
    void repeatedFlushesAreWrittenOnce(@TempDir Path folder) throws Exception {
        MemoryRegion region = mapped(folder, Arena.ofShared());
        pair.b.node.isDiskSlow = true;
        pair.a.queuePair.postSend(persist(1, region));
        pair.run(150_000_000);
        assertThat(counted(pair.b.queuePair, Counter.RCVD_PKTS)).isGreaterThan(2);
        assertThat(pair.b.node.disk).hasSize(1);
        // The answer is lost once, and given again without the file.
        pair.simulation.network
                .loseIf(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY);
        pair.b.node.isDiskSlow = false;
        pair.run(1_000_000);
        pair.a.assertCompleted();
        pair.b.node.isDiskSlow = true;
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.node.disk).isEmpty();
    }

    @Test
    void flushOfMemoryThatGoesMeanwhileIsARemoteAccessError(@TempDir Path folder)
            throws Exception {
        Arena arena = Arena.ofShared();
        MemoryRegion region = mapped(folder, arena);
        beginToPersist(region);
        arena.close();
        finishToPersist();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    /** The peer writes, to a disk that takes its time. */
    private void beginToPersist(MemoryRegion region) throws Exception {
        pair.b.node.isDiskSlow = true;
        pair.a.queuePair.postSend(persist(1, region));
        pair.run(1_000_000);
    }

    private void finishToPersist() throws Exception {
        pair.b.node.isDiskSlow = false;
        pair.settle();
    }

    @Test
    void regionMayBeClosedWhileItIsFlushed(@TempDir Path folder) throws Exception {
        MemoryRegion region = mapped(folder, Arena.ofShared());
        beginToPersist(region);
        region.close();
        finishToPersist();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void flushOfAQueuePairThatBeganAnewOrIsClosedAnswersNobody(@TempDir Path folder)
            throws Exception {
        MemoryRegion region = mapped(folder, Arena.ofShared());
        beginToPersist(region);
        pair.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        pair.b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        pair.connect(new Pair.Settings());
        pair.a.queuePair.postSend(persist(2, region));
        pair.run(1_000_000);
        assertThat(pair.b.node.disk).hasSize(2);
        pair.b.node.disk.remove().run();
        pair.run(1_000_000);
        pair.a.assertCompleted();
        pair.b.queuePair.close();
        pair.b.node.writeFiles();
        pair.run(1_000_000);
        pair.a.assertCompleted();
    }

    @Test
    void persistenceNeedsAMappedFile() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.node.domain.register(pair.b.memory,
                        AccessFlag.FLUSH_PERSISTENT))
                .withMessageContaining("maps a file");
    }

    @Test
    void flushWithoutPlacementIsRefusedWhenPosted() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.a.queuePair
                        .postSend(flush(1, pair.b.region, FlushSelectivity.RANGE)))
                .withMessageContaining("placement");
    }

    @Test
    void fenceWaitsForEarlierAtomics() throws Exception {
        pair.b.memory.set(ValueLayout.JAVA_LONG, 0, 3);
        pair.a.memory.set(ValueLayout.JAVA_LONG, RESULT, 0);
        pair.a.queuePair.postSend(add(1, 1));
        pair.a.queuePair.postSend(pair.a.request(2)
                .write(pair.b.region.address() + 64, pair.b.region.rkey())
                .add(pair.a.region, RESULT, 8).set(SendFlag.FENCE));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(word(pair.b.memory, 64)).isEqualTo(3);
    }

    @Test
    void atomicOnAFileThatWasCutShortIsARemoteAccessErrorAndHarmsNobodyElse(@TempDir Path folder)
            throws Exception {
        try (FileChannel channel = FileChannel.open(folder.resolve("memory"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16,
                    Arena.ofShared());
            MemoryRegion region = pair.b.node.domain.register(mapped, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_ATOMIC);
            channel.truncate(0);
            post(pair.a.request(1).fetchAndAdd(region.address() + 8192, region.rkey(), 1)
                    .add(pair.a.region, RESULT, 8));
            pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        }
    }
}
