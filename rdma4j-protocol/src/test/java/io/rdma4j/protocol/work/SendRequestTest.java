// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** A slot of a queue holds what was posted, and finds the memory of any part of a message. */
class SendRequestTest {
    private static final int KEY = 7;
    private static final int READ_ONLY = 8;

    private final MemorySegment memory = Arena.ofAuto().allocate(1000, 8);
    private final Regions regions = new Regions();

    SendRequestTest() {
        for (int i = 0; i < 1000; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        regions.register(KEY, 0, memory, EnumSet.allOf(AccessFlag.class));
        regions.register(READ_ONLY, 0, memory, EnumSet.of(AccessFlag.REMOTE_READ));
    }

    private static SendRequest slot(SendWorkRequest request) {
        SendRequest slot = new SendRequest(4, null);
        slot.assign(request, false);
        return slot;
    }

    /** {@return a request of 10 bytes from 100 on, none, 20 from 300 on, and 5 from 500 on} */
    private static SendWorkRequest pieces() {
        return new SendWorkRequest().send().add(100, 10, KEY).add(200, 0, KEY).add(300, 20, KEY)
                .add(500, 5, KEY);
    }

    /** {@return which bytes of memory a part of a message consists of, as first:length} */
    private List<String> gathered(SendRequest slot, long offset, int length) {
        List<String> pieces = new ArrayList<>();
        assertThat(slot.gather(offset, length, regions,
                (segment, at, bytes) -> pieces.add(at + ":" + bytes))).isTrue();
        return pieces;
    }

    // ---------------------------------------------------------------- what was posted

    @Test
    void slotHoldsEveryWordOfTheOperation() {
        SendRequest slot = slot(pieces().id(99).opcode(SendOpcode.ATOMIC_COMPARE_AND_SWAP)
                .compareAndSwap(1234, 5, 11, 22).set(SendFlag.SOLICITED)
                .set(SendFlag.FENCE));
        assertThat(slot.id()).isEqualTo(99);
        assertThat(slot.opcode()).isEqualTo(SendOpcode.ATOMIC_COMPARE_AND_SWAP);
        assertThat(slot.remoteAddress()).isEqualTo(1234);
        assertThat(slot.rkey()).isEqualTo(5);
        assertThat(slot.compareAdd()).isEqualTo(11);
        assertThat(slot.swap()).isEqualTo(22);
        assertThat(slot.isSolicited()).isTrue();
        assertThat(slot.isFenced()).isTrue();
        assertThat(slot.length()).isEqualTo(35);
        assertThat(slot.elementCount()).isEqualTo(4);
        assertThat(slot.elementAddress(2)).isEqualTo(300);
        assertThat(slot.elementLength(2)).isEqualTo(20);
        assertThat(slot.elementLkey(2)).isEqualTo(KEY);
        // The next request of the slot has other words.
        slot.assign(new SendWorkRequest().sendWithInvalidate(77), false);
        assertThat(slot.invalidateRkey()).isEqualTo(77);
        slot.assign(new SendWorkRequest().localInvalidate(78), false);
        assertThat(slot.invalidateRkey()).isEqualTo(78);
        slot.assign(new SendWorkRequest().sendWithImmediate(3), false);
        assertThat(slot.immediate()).isEqualTo(3);
        slot.assign(new SendWorkRequest().writeWithImmediate(4321, 6, 4), false);
        assertThat(slot.immediate()).isEqualTo(4);
        assertThat(slot.remoteAddress()).isEqualTo(4321);
        assertThat(slot.rkey()).isEqualTo(6);
        slot.assign(new SendWorkRequest().fetchAndAdd(8, 7, 9), false);
        assertThat(slot.compareAdd()).isEqualTo(9);
        for (SendWorkRequest request : List.of(new SendWorkRequest().read(1, 2),
                new SendWorkRequest().write(3, 4), new SendWorkRequest().atomicWrite(5, 6))) {
            slot.assign(request, false);
            assertThat(slot.remoteAddress()).isEqualTo(request.remoteAddress());
            assertThat(slot.rkey()).isEqualTo(request.rkey());
        }
    }

    @Test
    void slotHoldsWhatAFlushAndADatagramAre() {
        SendRequest flush = slot(new SendWorkRequest().flush(1, 2, 345,
                Set.of(FlushPlacement.PERSISTENT), FlushSelectivity.MEMORY_REGION));
        assertThat(flush.flushLength()).isEqualTo(345);
        assertThat(flush.flushPlacement()).isEqualTo(FlushPlacement.PERSISTENT.bit());
        assertThat(flush.flushSelectivity()).isEqualTo(FlushSelectivity.MEMORY_REGION);
    }

    @Test
    void keyOfABindIsHeldUntilItIsOver() {
        SendRequest bind = slot(new SendWorkRequest().localInvalidate(5));
        assertThat(bind.isLocal()).isTrue();
        assertThat(bind.isCarriedOut()).isFalse();
        bind.carriedOut();
        assertThat(bind.isCarriedOut()).isTrue();
        bind.assign(new SendWorkRequest().send(), false);
        assertThat(bind.isCarriedOut()).isFalse();
        assertThat(bind.isLocal()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        // all are signaled, this one is, it counts as such
        "false, false, false", "false, true, true", "true, false, true", "true, true, true"})
    void requestIsSignaledByItselfOrByItsQueuePair(boolean all, boolean one, boolean expected) {
        SendRequest slot = new SendRequest(1, null);
        slot.assign(new SendWorkRequest().send().set(SendFlag.SIGNALED, one), all);
        assertThat(slot.isSignaled()).isEqualTo(expected);
        assertThat(slot.isSolicited()).isFalse();
        assertThat(slot.isFenced()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(SendOpcode.class)
    void opcodeSaysWhatARequestNeeds(SendOpcode opcode) {
        SendRequest slot = slot(pieces().opcode(opcode));
        boolean isMessage = switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE_WITH_IMMEDIATE -> true;
            default -> false;
        };
        boolean bringsBytes = switch (opcode) {
            case RDMA_READ, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD -> true;
            default -> false;
        };
        boolean isAnswered = bringsBytes || opcode == SendOpcode.FLUSH
                || opcode == SendOpcode.ATOMIC_WRITE;
        assertThat(slot.consumesReceive()).isEqualTo(isMessage);
        assertThat(slot.bytesReturned()).isEqualTo(bringsBytes ? 35 : 0);
        assertThat(slot.awaitsResponse()).isEqualTo(isAnswered);
    }

    // ---------------------------------------------------------------- where its bytes lie

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        // offset, length, pieces
        "0  | 35 | 100:10, 300:20, 500:5", "0  | 10 | 100:10", "0  | 11 | 100:10, 300:1",
        "3  | 4  | 103:4", "9  | 2  | 109:1, 300:1", "10 | 20 | 300:20", "10 | 21 | 300:20, 500:1",
        "29 | 3  | 319:1, 500:2", "34 | 1  | 504:1", "35 | 0  | ''"})
    void anyPartOfAMessageIsFoundPieceByPiece(long offset, int length, String pieces) {
        assertThat(String.join(", ", gathered(slot(pieces()), offset, length))).isEqualTo(pieces);
    }

    @Test
    void memoryThatIsNotThisSidesIsNotGathered() {
        SendRequest slot = slot(new SendWorkRequest().send().add(0, 10, KEY).add(0, 10, 99));
        assertThat(slot.gather(0, 10, regions, (segment, at, bytes) -> {})).isTrue();
        assertThat(slot.gather(0, 11, regions, (segment, at, bytes) -> {})).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"0, 10", "3, 7", "9, 1", "10, 20", "29, 1", "30, 5", "34, 1", "35, 0"})
    void bytesThatLieTogetherEndWithTheirElement(long offset, long together) {
        assertThat(slot(pieces()).contiguous(offset)).isEqualTo(together);
    }

    // ---------------------------------------------------------------- inline data

    @Test
    void inlineDataIsCopiedWhenItIsPosted() {
        MemorySegment buffer = MemorySegment.ofArray(new byte[64]);
        SendRequest slot = new SendRequest(4, buffer);
        slot.assign(pieces(), false);
        slot.beginInline();
        assertThat(slot.length()).isZero();
        assertThat(gathered(slot, 0, 0)).isEmpty();
        slot.appendInline(memory, 100, 3);
        slot.appendInline(memory, 200, 2);
        memory.fill((byte) 0);
        assertThat(slot.length()).isEqualTo(5);
        assertThat(buffer.asSlice(0, 6).toArray(ValueLayout.JAVA_BYTE)).containsExactly(100, 101,
                102, (byte) 200, (byte) 201, 0);
        assertThat(gathered(slot, 0, 5)).containsExactly("0:5");
        assertThat(gathered(slot, 2, 3)).containsExactly("2:3");
        assertThat(slot.contiguous(0)).isEqualTo(5);
        assertThat(slot.contiguous(2)).isEqualTo(3);
        slot.assign(pieces(), false);
        assertThat(slot.length()).isEqualTo(35);
        assertThat(gathered(slot, 0, 3)).containsExactly("100:3");
        slot.inlined(4);
        assertThat(slot.length()).isEqualTo(4);
        assertThat(gathered(slot, 0, 4)).containsExactly("0:4");
    }

    @Test
    void inlineDataOfAQueueWithoutRoomForItIsNoData() {
        SendRequest slot = slot(pieces());
        slot.beginInline();
        slot.appendInline(memory, 0, 0);
        assertThat(gathered(slot, 0, 0)).isEmpty();
    }

    // ---------------------------------------------------------------- where bytes go

    @ParameterizedTest
    @CsvSource({"0, 35", "0, 10", "9, 2", "10, 25", "34, 1", "12, 0"})
    void arrivingBytesComeToLieInTheElements(long offset, int length) {
        byte[] bytes = new byte[length + 3];
        Arrays.fill(bytes, (byte) 0xee);
        byte[] before = memory.toArray(ValueLayout.JAVA_BYTE);
        assertThat(slot(pieces()).scatter(offset, MemorySegment.ofArray(bytes), 3, length, regions))
                .isEqualTo(CopyOutcome.DONE);
        int position = 0;
        int[][] elements = {{100, 10}, {300, 20}, {500, 5}};
        for (int[] element : elements) {
            for (int i = element[0]; i < element[0] + element[1]; i++, position++) {
                if (position >= offset && position < offset + length) {
                    before[i] = (byte) 0xee;
                }
            }
        }
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
    }

    @Test
    void memoryThatMayNotBeWrittenTakesNothing() {
        ReceiveRequest slot = new ReceiveRequest(2);
        slot.assign(new ReceiveWorkRequest().id(5).add(0, 10, KEY).add(20, 10, READ_ONLY));
        assertThat(slot.scatter(0, MemorySegment.ofArray(new byte[20]), 0, 10, regions))
                .isEqualTo(CopyOutcome.DONE);
        assertThat(slot.scatter(0, MemorySegment.ofArray(new byte[20]), 0, 11, regions))
                .isEqualTo(CopyOutcome.TARGET_REFUSED);
    }

    @Test
    void receiveThatIsGivenElementByElementHasNothingOfTheOneBefore() {
        ReceiveRequest second = new ReceiveRequest(3);
        second.assign(new ReceiveWorkRequest().id(4).add(0, 1, KEY).add(10, 2, KEY).add(20, 3,
                KEY));
        second.begin(5);
        second.add(100, 10, KEY);
        second.add(300, 20, KEY);
        assertThat(second.id()).isEqualTo(5);
        assertThat(second.capacity()).isEqualTo(30);
        assertThat(second.scatter(8, MemorySegment.ofArray(new byte[4]), 0, 4, regions))
                .isEqualTo(CopyOutcome.DONE);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 107)).isEqualTo((byte) 107);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 108)).isZero();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 301)).isZero();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 302)).isEqualTo((byte) 302);
    }
}
