// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Accesses to memory of the application: what they do, and what becomes of them when the memory is gone. */
class MemoryReferenceTest {
    /** The largest page of a usual system, so that what is cut off is missing on each. */
    private static final long PAGE = 1 << 16;

    @TempDir
    Path folder;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = Arena.ofAuto().allocate(64, 64);
    private final MemoryReference reference = new MemoryReference();

    @AfterEach
    void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    private MemorySegment mapped(long pages, long left) throws Exception {
        try (FileChannel file = FileChannel.open(folder.resolve("file"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = file.map(FileChannel.MapMode.READ_WRITE, 0, pages * PAGE,
                    arena);
            file.truncate(left * PAGE);
            return segment;
        }
    }

    private static MemorySegment closed() {
        try (Arena brief = Arena.ofConfined()) {
            return brief.allocate(64, 8);
        }
    }

    // ---------------------------------------------------------------- what they do

    @Test
    void swapStoresIfItFindsWhatIsExpectedAndTellsWhatItFound() {
        memory.set(ValueLayout.JAVA_LONG, 8, 5);
        reference.point(memory, 8);
        assertThat(reference.compareAndSwap(6, 7)).isEqualTo(5);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(5);
        assertThat(reference.compareAndSwap(5, 7)).isEqualTo(5);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(7);
    }

    @Test
    void additionTellsWhatWasThereBefore() {
        memory.set(ValueLayout.JAVA_LONG, 8, 5);
        reference.point(memory, 8);
        assertThat(reference.fetchAndAdd(-7)).isEqualTo(5);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(-2);
    }

    @Test
    void eightBytesAreTakenFromAnyPlace() {
        byte[] source = {9, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        reference.point(memory, 16);
        assertThat(reference.writeAtomically(MemorySegment.ofArray(source), 1))
                .isEqualTo(CopyOutcome.DONE);
        assertThat(memory.asSlice(15, 10).toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 1, 2,
                3, 4, 5, 6, 7, 8, 0);
    }

    @Test
    void placeIsAlignedIfItsAddressIs() {
        for (int i = 0; i < 16; i++) {
            reference.point(memory, i);
            assertThat(reference.isAligned()).isEqualTo(i % 8 == 0);
            reference.point(memory.asSlice(3), i);
            assertThat(reference.isAligned()).isEqualTo((i + 3) % 8 == 0);
        }
    }

    @Test
    void clearedReferencePointsNowhere() {
        reference.point(memory, 8);
        reference.clear();
        assertThat(reference.segment()).isSameAs(MemorySegment.NULL);
        assertThat(reference.offset()).isZero();
    }

    // ---------------------------------------------------------------- closed arenas

    @Test
    void whoseMemoryIsGoneIsTold() {
        reference.point(closed(), 0);
        assertThat(reference.write(memory, 0, 8)).isEqualTo(CopyOutcome.TARGET_REFUSED);
        assertThat(reference.writeAtomically(memory, 0)).isEqualTo(CopyOutcome.TARGET_REFUSED);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> reference.fetchAndAdd(1));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> reference.compareAndSwap(1, 2));
        reference.point(memory, 0);
        assertThat(reference.write(closed(), 0, 8)).isEqualTo(CopyOutcome.SOURCE_GONE);
        assertThat(reference.writeAtomically(closed(), 0)).isEqualTo(CopyOutcome.SOURCE_GONE);
    }

    @Test
    void memoryIsGoneWithItsArenaAndOnlyThen() throws Exception {
        assertThat(ApplicationMemory.isGone(memory, 0, 64)).isFalse();
        assertThat(ApplicationMemory.isGone(closed(), 0, 0)).isTrue();
        MemorySegment mapped = mapped(1, 1);
        assertThat(ApplicationMemory.isGone(mapped, 0, PAGE)).isFalse();
        arena.close();
        assertThat(ApplicationMemory.isGone(mapped, 0, PAGE)).isTrue();
    }

    // ---------------------------------------------------------------- files that are cut short

    @Test
    @EnabledOnOs(OS.LINUX)
    void copyBeyondTheEndOfAFileIsAnErrorOfTheCopy() throws Exception {
        MemorySegment mapped = mapped(3, 1);
        MemorySegment two = Arena.ofAuto().allocate(2 * PAGE);
        ApplicationMemory.copy(mapped, 0, two, 0, PAGE);
        assertThatExceptionOfType(InternalError.class)
                .isThrownBy(() -> ApplicationMemory.copy(mapped, 0, two, 0, PAGE + 8));
        assertThatExceptionOfType(InternalError.class)
                .isThrownBy(() -> ApplicationMemory.copy(two, 0, mapped, PAGE, 8));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void anyPageThatIsMissingCounts() throws Exception {
        MemorySegment mapped = mapped(3, 1);
        assertThat(ApplicationMemory.isGone(mapped, 0, PAGE)).isFalse();
        assertThat(ApplicationMemory.isGone(mapped, 100, PAGE - 100)).isFalse();
        assertThat(ApplicationMemory.isGone(mapped, 100, PAGE)).isTrue();
        assertThat(ApplicationMemory.isGone(mapped, PAGE - 1, 2)).isTrue();
        assertThat(ApplicationMemory.isGone(mapped, 2 * PAGE, 1)).isTrue();
        // Nothing is read of it.
        assertThat(ApplicationMemory.isGone(mapped, PAGE, 0)).isFalse();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void accessBeyondTheEndOfAFileIsToldByItsOutcome() throws Exception {
        MemorySegment mapped = mapped(2, 1);
        reference.point(mapped, PAGE);
        assertThat(reference.write(memory, 0, 8)).isEqualTo(CopyOutcome.TARGET_REFUSED);
        assertThat(reference.writeAtomically(memory, 0)).isEqualTo(CopyOutcome.TARGET_REFUSED);
        assertThatExceptionOfType(InternalError.class).isThrownBy(() -> reference.fetchAndAdd(1));
        assertThatExceptionOfType(InternalError.class)
                .isThrownBy(() -> reference.compareAndSwap(1, 2));
        reference.point(memory, 0);
        assertThat(reference.write(mapped, PAGE, 8)).isEqualTo(CopyOutcome.SOURCE_GONE);
        assertThat(reference.writeAtomically(mapped, PAGE)).isEqualTo(CopyOutcome.SOURCE_GONE);
    }

    @Test
    void mappedMemoryThatIsThereIsLikeAnyOther() throws Exception {
        MemorySegment mapped = mapped(1, 1);
        reference.point(mapped, 8);
        assertThat(reference.fetchAndAdd(5)).isZero();
        assertThat(reference.compareAndSwap(5, 6)).isEqualTo(5);
        assertThat(reference.writeAtomically(memory, 0)).isEqualTo(CopyOutcome.DONE);
        assertThat(mapped.get(ValueLayout.JAVA_LONG, 8)).isZero();
    }

    // ---------------------------------------------------------------- pieces of a payload

    @Test
    void payloadOfManyPiecesIsCopiedInOrder() {
        PayloadPieces pieces = new PayloadPieces();
        byte[] bytes = new byte[40];
        for (int i = 0; i < 40; i++) {
            bytes[i] = (byte) i;
        }
        MemorySegment source = MemorySegment.ofArray(bytes);
        for (int i = 0; i < 9; i++) {
            pieces.addPayload(source, 4 * i + 1, 3);
        }
        assertThat(pieces.count()).isEqualTo(9);
        assertThat(pieces.length()).isEqualTo(27);
        assertThat(pieces.padding()).isOne();
        assertThat(pieces.offset(8)).isEqualTo(33);
        MemorySegment target = MemorySegment.ofArray(new byte[30]);
        assertThat(pieces.copyTo(target, 2)).isTrue();
        for (int i = 0; i < 27; i++) {
            assertThat(target.get(ValueLayout.JAVA_BYTE, 2 + i))
                    .isEqualTo((byte) (4 * (i / 3) + 1 + i % 3));
        }
        pieces.release();
        assertThat(pieces.count()).isZero();
        assertThat(pieces.length()).isZero();
        assertThat(pieces.piece(8)).isSameAs(MemorySegment.NULL);
    }

    @Test
    void payloadWhosePieceIsGoneIsNotCopied() {
        PayloadPieces pieces = new PayloadPieces();
        pieces.addPayload(memory, 0, 4);
        pieces.addPayload(closed(), 0, 4);
        assertThat(pieces.copyTo(MemorySegment.ofArray(new byte[8]), 0)).isFalse();
    }
}
