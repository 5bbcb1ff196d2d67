// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;

import static org.assertj.core.api.Assertions.assertThat;

/** A queue pair that rests keeps no memory alive whose region is closed. */
class ReleasedMemoryTest {
    private static final int LENGTH = 3000;

    private Pair pair = new Pair();

    ReleasedMemoryTest() throws Exception {}

    /** What is done with a region. */
    private interface Use {
        void of(MemoryRegion region) throws RdmaException;
    }

    /** Uses a region of its own of one side, closes it, and asserts that its memory can be freed. */
    private void assertReleased(Pair.Side side, Use use) throws Exception {
        WeakReference<MemorySegment.Scope> memory = used(side, use);
        for (int i = 0; i < 20 && memory.get() != null; i++) {
            System.gc();
        }
        assertThat(memory.get()).isNull();
    }

    private WeakReference<MemorySegment.Scope> used(Pair.Side side, Use use) throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(LENGTH, 8);
        MemoryRegion region = side.node.domain.register(memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC,
                AccessFlag.FLUSH_GLOBAL);
        use.of(region);
        pair.settle();
        region.close();
        assertThat(pair.a.completions).isNotEmpty().allMatch(completion -> completion.isSuccess());
        return new WeakReference<>(memory.scope());
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC"})
    void targetOfAWrite(QueuePairType type) throws Exception {
        pair = Pair.of(type);
        assertReleased(pair.b, region -> pair.a.queuePair.postSend(
                pair.a.request(1).write(region.address(), region.rkey()).add(pair.a.region, 0,
                        LENGTH)));
    }

    @Test
    void sourceOfARead() throws Exception {
        assertReleased(pair.b, region -> pair.a.queuePair.postSend(
                pair.a.request(1).read(region.address(), region.rkey()).add(pair.a.region, 0,
                        LENGTH)));
    }

    @Test
    void targetOfAnAtomic() throws Exception {
        assertReleased(pair.b, region -> pair.a.queuePair.postSend(
                pair.a.request(1).fetchAndAdd(region.address(), region.rkey(), 1)
                        .add(pair.a.region, 0, 8)));
    }

    @Test
    void targetOfARead() throws Exception {
        assertReleased(pair.a, region -> pair.a.queuePair.postSend(
                pair.a.request(1).read(pair.b.region.address(), pair.b.region.rkey()).add(region, 0,
                        LENGTH)));
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC"})
    void sourceOfASend(QueuePairType type) throws Exception {
        pair = Pair.of(type);
        pair.b.receive(10, LENGTH);
        assertReleased(pair.a, region -> pair.a.queuePair
                .postSend(pair.a.request(1).send().add(region, 0, LENGTH)));
    }

    @Test
    void sourceOfADatagramInPieces() throws Exception {
        pair = Pair.of(QueuePairType.UD);
        assertReleased(pair.a, region -> pair.a.queuePair.postSend(
                pair.a.request(1).send().add(region, 0, 10).add(region, 20, 10)
                        .to(pair.a.node.domain.createAddressHandle(AddressHandleAttributes
                                .to(pair.b.node.nic.gids().get(1), 1)),
                                pair.b.queuePair.number(), 1)));
    }

    @Test
    void sourceOfInlineData() throws Exception {
        pair.b.receive(10, LENGTH);
        assertReleased(pair.a, region -> pair.a.queuePair.postSend(
                pair.a.request(1).send().add(region, 0, 16).set(SendFlag.INLINE)));
    }
}
