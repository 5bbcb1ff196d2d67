// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** What requests leave behind: in memory on both sides, and in the completions. */
class RcResultTest {
    private static final int THREE_PACKETS = 2500;
    private static final int KEY = 3;

    private final RcPair pair = new RcPair();
    private final RcEnd a = pair.a;
    private final RcEnd b = pair.b;
    private final MemorySegment other = Arena.ofAuto().allocate(64, 64);

    private List<PacketView> watch(Opcode... opcodes) {
        List<PacketView> seen = new ArrayList<>();
        pair.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                if (opcodes.length == 0 || List.of(opcodes).contains(packet.opcode())) {
                    seen.add(packet);
                }
            }
        });
        return seen;
    }

    private SendWorkRequest toUpper(SendWorkRequest request) {
        return request.add(a.address + RcEnd.UPPER, Long.BYTES, a.key);
    }

    // ---------------------------------------------------------------- atomics

    // [IBTA 9.4.5-2]
    @Test
    void compareAndSwapThatFindsWhatItExpectsStoresAndBringsTheOldValue() {
        long original = b.word(0);
        a.post(toUpper(a.request(1).compareAndSwap(b.address, b.key, original, 42)));
        pair.settle();
        assertThat(b.word(0)).isEqualTo(42);
        assertThat(a.word(RcEnd.UPPER)).isEqualTo(original);
        assertThat(a.completions).singleElement().satisfies(c -> {
            assertThat(c.isSuccess()).isTrue();
            assertThat(c.opcode()).isEqualTo(WorkCompletionOpcode.COMPARE_SWAP);
            assertThat(c.byteLength()).isEqualTo(Long.BYTES);
        });
    }

    // [IBTA 9.4.5-2]
    @Test
    void compareAndSwapThatFindsSomethingElseBringsItAndStoresNothing() {
        long original = b.word(0);
        a.post(toUpper(a.request(1).compareAndSwap(b.address, b.key, original + 1, 42)));
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.word(0)).isEqualTo(original);
        assertThat(a.word(RcEnd.UPPER)).isEqualTo(original);
    }

    // [IBTA 9.4.5-2]
    @Test
    void fetchAndAddAddsAndBringsTheOldValue() {
        long original = b.word(0);
        a.add(1, -7);
        a.add(2, 10);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(b.word(0)).isEqualTo(original + 3);
        assertThat(a.word(RcEnd.UPPER)).isEqualTo(original - 7);
    }

    @Test
    void atomicWhoseResultHasNoPlaceFailsThoughItWasCarriedOut() {
        long original = b.word(0);
        a.regions.register(KEY, 0, other, EnumSet.of(AccessFlag.REMOTE_READ));
        a.post(a.request(1).fetchAndAdd(b.address, b.key, 5).add(0, Long.BYTES, KEY));
        pair.settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
        assertThat(b.word(0)).isEqualTo(original + 5);
        assertThat(other.get(ValueLayout.JAVA_LONG, 0)).isZero();
    }

    @Test
    void atomicWriteStoresEightBytesAtOnce() {
        a.post(a.request(1).atomicWrite(b.address + RcEnd.UPPER, b.key).add(a.address, Long.BYTES,
                a.key));
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.word(RcEnd.UPPER)).isEqualTo(a.word(0));
        assertThat(b.word(RcEnd.UPPER + Long.BYTES)).isZero();
    }

    @Test
    void atomicWriteOfMemoryThatIsNotThisSidesIsNotSent() {
        List<PacketView> sent = watch();
        a.post(a.request(1).atomicWrite(b.address, b.key).add(a.address, Long.BYTES, KEY));
        pair.settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
        assertThat(sent).isEmpty();
    }

    // ---------------------------------------------------------------- FLUSH

    @ParameterizedTest
    @EnumSource(FlushSelectivity.class)
    void flushSaysWhatItCoversAndHowFar(FlushSelectivity selectivity) {
        List<PacketView> sent = watch(Opcode.RC_FLUSH);
        a.post(a.request(1).flush(b.address + 8, b.key, 100,
                Set.of(FlushPlacement.GLOBAL, FlushPlacement.PERSISTENT), selectivity));
        pair.settle();
        assertThat(a.completions).singleElement().satisfies(c -> {
            assertThat(c.isSuccess()).isTrue();
            assertThat(c.byteLength()).isZero();
        });
        assertThat(sent).singleElement().satisfies(packet -> {
            assertThat(packet.flush()).isEqualTo(
                    3 | selectivity.code() << OutgoingPacket.FLUSH_SELECTIVITY_SHIFT);
            assertThat(packet.remoteAddress()).isEqualTo(b.address + 8);
            assertThat(packet.rkey()).isEqualTo(b.key);
            assertThat(packet.dmaLength()).isEqualTo(100);
        });
    }

    // ---------------------------------------------------------------- what comes with a message

    // [IBTA 9.2-3]
    @Test
    void solicitationIsInTheLastPacketAndInTheCompletion() {
        List<PacketView> sent = watch(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_MIDDLE,
                Opcode.RC_SEND_LAST, Opcode.RC_SEND_ONLY);
        b.receive(7, THREE_PACKETS);
        b.receive(8, 100);
        a.post(a.request(1).send().add(a.address, THREE_PACKETS, a.key).set(SendFlag.SOLICITED));
        a.post(a.request(2).send().add(a.address, 100, a.key));
        pair.settle();
        assertThat(sent).extracting(PacketView::isSolicited).containsExactly(false, false, true,
                false);
        assertThat(b.completions).extracting(RcEnd.Completion::isSolicited).containsExactly(true,
                false);
    }

    // [IBTA 9.4.1-1]
    @Test
    void immediateAndInvalidatedKeyAreTwoThings() {
        for (int i = 0; i < 4; i++) {
            b.receive(7 + i, 100);
        }
        b.regions.windowKeys.add(0x777);
        a.post(a.request(1).sendWithImmediate(0x1234).add(a.address, 10, a.key));
        a.post(a.request(2).sendWithInvalidate(0x777).add(a.address, 10, a.key));
        a.post(a.request(3).writeWithImmediate(b.address + RcEnd.UPPER, b.key, 0x5678).add(
                a.address, 20, a.key));
        a.post(a.request(4).send().add(a.address, 10, a.key));
        pair.settle();
        assertThat(b.completions).extracting(RcEnd.Completion::immediate).containsExactly(0x1234,
                null, 0x5678, null);
        assertThat(b.completions).extracting(RcEnd.Completion::invalidated).containsExactly(null,
                0x777, null, null);
        assertThat(b.completions).extracting(RcEnd.Completion::byteLength).containsExactly(10L,
                10L, 20L, 10L);
        assertThat(b.completions).extracting(RcEnd.Completion::opcode).containsExactly(
                WorkCompletionOpcode.RECEIVE, WorkCompletionOpcode.RECEIVE,
                WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE, WorkCompletionOpcode.RECEIVE);
        assertThat(b.regions.windowKeys).isEmpty();
    }

    // [IBTA 9.4.1-2]
    @Test
    void keyThatMayNotBeInvalidatedFailsBothEnds() {
        b.receive(7, 100);
        a.post(a.request(1).sendWithInvalidate(0x777).add(a.address, 10, a.key));
        pair.settle();
        a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        b.assertCompleted("7 REMOTE_INVALID_REQUEST_ERROR");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    // ---------------------------------------------------------------- where bytes come to lie

    @Test
    void messageIsGatheredFromElementsAndScatteredIntoOthers() {
        b.post(new ReceiveWorkRequest().id(7).add(b.address + RcEnd.UPPER, 1000,
                b.key).add(b.address + RcEnd.UPPER + 1000, 0, b.key)
                .add(b.address + RcEnd.UPPER + 1000, 1500, b.key));
        a.post(a.request(1).send().add(a.address, 7, a.key).add(a.address + 7, 0, a.key)
                .add(a.address + 7, 2000, a.key).add(a.address + 2007, 493, a.key));
        pair.settle();
        b.assertCompleted("7 SUCCESS");
        assertThat(b.hasPeersBytes(THREE_PACKETS)).isTrue();
        assertThat(b.upperByte(THREE_PACKETS)).isZero();
    }

    @Test
    void readScattersItsAnswerOverItsElements() {
        a.post(a.request(1).read(b.address, b.key).add(a.address + RcEnd.UPPER, 1030, a.key)
                .add(a.address + RcEnd.UPPER + 1030, 1470, a.key));
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(a.hasPeersBytes(THREE_PACKETS)).isTrue();
        assertThat(a.upperByte(THREE_PACKETS)).isZero();
    }
}
