// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.AccessRefusal;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A send queue: what the engine sees of it, when there is room, and who may post. */
class SendRingTest {
    private static final int INLINE = 8;

    private SendRing ring = new SendRing(4, 1, INLINE, null);
    private final List<String> done = new ArrayList<>();
    private long posted;

    private @Nullable SendRequest stage(SendFlag... flags) {
        SendRequest slot = ring.free();
        if (slot != null) {
            SendWorkRequest request = new SendWorkRequest().id(posted++).send();
            for (SendFlag flag : flags) {
                request.set(flag);
            }
            slot.assign(request, false);
            ring.stage();
        }
        return slot;
    }

    private void post(SendFlag... flags) {
        assertThat(stage(flags)).isNotNull();
        ring.publish();
    }

    // ---------------------------------------------------------------- room and order

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8, 9, 16, 17, 100})
    void ringHoldsJustWhatItShouldHoweverOftenItGoesRound(int capacity) {
        ring = new SendRing(capacity, 1, 0, null);
        long first = 0;
        for (int round = 0; round < 20; round++) {
            while (stage() != null) {
                ring.publish();
            }
            assertThat(ring.end() - first).isEqualTo(capacity);
            for (long i = first; i < ring.end(); i++) {
                assertThat(ring.request(i).id()).isEqualTo(i);
            }
            for (int i = 0; i <= round % capacity; i++) {
                ring.retire();
                first++;
            }
        }
    }

    @Test
    void engineSeesWhatIsPublishedAndNothingThatIsOnlyStaged() {
        stage();
        stage();
        assertThat(ring.end()).isZero();
        assertThat(ring.isOutstanding()).isFalse();
        ring.publish();
        assertThat(ring.end()).isEqualTo(2);
        assertThat(ring.isOutstanding()).isTrue();
    }

    @Test
    void whatIsStagedCanBeDroppedAndTakesNoRoom() {
        post();
        stage();
        stage();
        ring.unstage();
        ring.publish();
        assertThat(ring.end()).isEqualTo(1);
        for (int i = 0; i < 3; i++) {
            post();
        }
        assertThat(ring.free()).isNull();
        assertThat(ring.request(1).id()).isEqualTo(3);
    }

    @Test
    void stagedRequestsTakeRoom() {
        for (int i = 0; i < 4; i++) {
            stage();
        }
        assertThat(ring.free()).isNull();
    }

    @Test
    void requestThatWasNeverPostedIsNotFound() {
        post();
        assertThatIllegalStateException().isThrownBy(() -> ring.request(1))
                .withMessageContaining("request 1 was not posted");
    }

    @Test
    void queueThatIsClearedHasRoomAndGoesOnWhereItWas() {
        for (int i = 0; i < 4; i++) {
            post();
        }
        assertThat(ring.clear()).isEqualTo(4);
        assertThat(ring.isOutstanding()).isFalse();
        post();
        assertThat(ring.end()).isEqualTo(5);
        assertThat(ring.request(4).id()).isEqualTo(4);
        assertThat(ring.isOutstanding()).isTrue();
        ring.retire();
        assertThat(ring.isOutstanding()).isFalse();
    }

    @Test
    void onlySignaledRequestsThatAreNotRetiredWillComplete() {
        assertThat(ring.isSignaledOutstanding()).isFalse();
        post();
        assertThat(ring.isSignaledOutstanding()).isFalse();
        post(SendFlag.SIGNALED);
        post();
        assertThat(ring.isSignaledOutstanding()).isTrue();
        ring.retire();
        assertThat(ring.isSignaledOutstanding()).isTrue();
        ring.retire();
        assertThat(ring.isSignaledOutstanding()).isFalse();
        assertThat(ring.isOutstanding()).isTrue();
    }

    @Test
    void signaledRequestThatIsOnlyStagedDoesNotCount() {
        stage(SendFlag.SIGNALED);
        assertThat(ring.isSignaledOutstanding()).isFalse();
        ring.publish();
        assertThat(ring.isSignaledOutstanding()).isTrue();
    }

    // ---------------------------------------------------------------- inline data

    private static List<MemorySegment> pieces(SendRequest request) {
        List<MemorySegment> pieces = new ArrayList<>();
        assertThat(request.gather(0, (int) request.length(), new NoMemory(),
                (memory, offset, length) -> pieces.add(memory.asSlice(offset, length)))).isTrue();
        return pieces;
    }

    private static void putInline(SendRequest request, int value) {
        request.beginInline();
        byte[] bytes = new byte[INLINE];
        Arrays.fill(bytes, (byte) value);
        request.appendInline(MemorySegment.ofArray(bytes), 0, INLINE);
    }

    @ParameterizedTest
    @CsvSource({"3, 4, true", "3, 4, false", "4, 4, true", "4, 4, false", "100, 128, true",
        "100, 128, false"})
    void eachRequestKeepsItsOwnInlineData(int capacity, int slots, boolean isGiven) {
        assertThat(SendRing.inlineMemoryFor(capacity, INLINE)).isEqualTo((long) slots * INLINE);
        MemorySegment given = MemorySegment
                .ofArray(new byte[(int) SendRing.inlineMemoryFor(capacity, INLINE)]);
        ring = new SendRing(capacity, 1, INLINE, isGiven ? given : null);
        assertThat(ring.maxInlineData()).isEqualTo(INLINE);
        for (int i = 0; i < capacity; i++) {
            putInline(Objects.requireNonNull(stage(SendFlag.INLINE)), i + 1);
        }
        ring.publish();
        for (int i = 0; i < capacity; i++) {
            MemorySegment piece = pieces(ring.request(i)).getFirst();
            byte[] expected = new byte[INLINE];
            Arrays.fill(expected, (byte) (i + 1));
            assertThat(piece.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
        boolean isWritten = given.get(ValueLayout.JAVA_BYTE, 0) != 0;
        assertThat(isWritten).isEqualTo(isGiven);
    }

    @Test
    void queueWithoutInlineDataTakesNoMemoryForIt() {
        assertThat(SendRing.inlineMemoryFor(4, 0)).isZero();
        ring = new SendRing(4, 1, 0, MemorySegment.ofArray(new byte[0]));
        post();
        assertThat(ring.maxInlineData()).isZero();
        assertThat(pieces(ring.request(0))).isEmpty();
    }

    // ---------------------------------------------------------------- the size

    /** Inline data of the new slots must not be that of slots in use. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ringThatWasNotUsedBetweenTwoLooksIsSmallAgain(boolean isGiven) {
        GrownRings grown = new GrownRings();
        ring = new SendRing(100, 1, INLINE, isGiven
                ? MemorySegment.ofArray(new byte[(int) SendRing.inlineMemoryFor(100, INLINE)])
                : null);
        ring.growWith(grown);
        for (int round = 0; round < 3; round++) {
            assertThat(grown.isEmpty()).isTrue();
            long first = ring.end();
            for (int i = 0; i < 100; i++) {
                putInline(Objects.requireNonNull(stage(SendFlag.INLINE)), i);
            }
            ring.publish();
            for (int i = 0; i < 100; i++) {
                assertThat(pieces(ring.request(first + i)).getFirst()
                        .get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) i);
            }
            grown.shrinkUnused(Runnable::run);
            grown.shrinkUnused(Runnable::run);
            assertThat(grown.isEmpty()).isFalse();
            for (int i = 0; i < 100; i++) {
                ring.retire();
            }
            grown.shrinkUnused(Runnable::run);
        }
    }

    @Test
    void ringThatIsInUseKeepsItsSlots() {
        GrownRings grown = new GrownRings();
        ring = new SendRing(100, 1, 0, null);
        ring.growWith(grown);
        for (int i = 0; i < 50; i++) {
            post();
            ring.retire();
        }
        assertThat(grown.isEmpty()).isTrue();
        for (int i = 0; i < 50; i++) {
            post();
        }
        ring.clear();
        for (int look = 0; look < 3; look++) {
            post();
            ring.retire();
            grown.shrinkUnused(Runnable::run);
            assertThat(grown.isEmpty()).isFalse();
        }
        stage();
        grown.shrinkUnused(Runnable::run);
        grown.shrinkUnused(Runnable::run);
        assertThat(grown.isEmpty()).isFalse();
        ring.unstage();
        ring.lock();
        grown.shrinkUnused(Runnable::run);
        grown.shrinkUnused(Runnable::run);
        assertThat(grown.isEmpty()).isFalse();
        ring.unlock();
        grown.shrinkUnused(Runnable::run);
        assertThat(grown.isEmpty()).isTrue();
        for (int i = 0; i < 50; i++) {
            post();
        }
        assertThat(grown.isEmpty()).isFalse();
        ring.close();
        assertThat(grown.isEmpty()).isTrue();
    }

    // ---------------------------------------------------------------- who posts

    @Test
    void oneThreadPostsAtATime() throws Exception {
        assertThat(ring.isLocked()).isFalse();
        ring.lock();
        assertThat(ring.isLocked()).isTrue();
        assertThat(OtherThread.result(ring::isLocked)).isFalse();
        OtherThread<Boolean> other = OtherThread.begin(() -> {
            ring.lock();
            ring.unlock();
            return true;
        });
        other.awaitStandstill();
        ring.unlock();
        assertThat(other.result()).isTrue();
        assertThat(ring.isLocked()).isFalse();
    }

    @Test
    void whereNobodyPostsItIsDoneAtOnceAndOnce() throws Exception {
        ring.whenIdle(() -> done.add("done"));
        assertThat(done).containsExactly("done");
        ring.lock();
        ring.unlock();
        assertThat(done).hasSize(1);
        assertThat(OtherThread.result(() -> {
            ring.lock();
            ring.unlock();
            return true;
        })).isTrue();
    }

    @Test
    void whereAnotherThreadPostsItIsDoneWhenThatHasEnded() throws Exception {
        ring.lock();
        assertThat(OtherThread.result(() -> {
            ring.whenIdle(() -> done.add("done"));
            return done.isEmpty();
        })).isTrue();
        ring.unlock();
        assertThat(done).containsExactly("done");
        ring.lock();
        ring.unlock();
        assertThat(done).hasSize(1);
    }

    /** A thread may begin to post while it posts, as in a batch. */
    @Test
    void whereThisThreadIsInTheMiddleItIsDoneWhenAllHasEnded() {
        ring.lock();
        ring.lock();
        ring.whenIdle(() -> done.add("done"));
        assertThat(done).isEmpty();
        ring.unlock();
        assertThat(done).isEmpty();
        ring.unlock();
        assertThat(done).containsExactly("done");
        assertThat(ring.isLocked()).isFalse();
    }

    @Test
    void nobodyPostsWhileItIsDone() throws Exception {
        ring.whenIdle(() -> done.add("locked: " + ring.isLocked()));
        assertThat(done).containsExactly("locked: true");
        assertThat(ring.isLocked()).isFalse();
    }

    /** No request of these tests names memory. */
    private static final class NoMemory implements Memory {
        private static AssertionError asked() {
            return new AssertionError("memory is asked for");
        }

        @Override
        public boolean local(int lkey, long address, long length, boolean isWrite,
                MemoryReference target) {
            throw asked();
        }

        @Override
        public boolean remote(int rkey, long address, long length, AccessFlag needed,
                MemoryReference target) {
            throw asked();
        }

        @Override
        public AccessRefusal refusal(int rkey, AccessFlag needed) {
            throw asked();
        }

        @Override
        public long remoteWhole(int rkey, AccessFlag needed, MemoryReference target) {
            throw asked();
        }

        @Override
        public WorkCompletionStatus carryOut(SendRequest request) {
            throw asked();
        }

        @Override
        public boolean invalidate(int rkey) {
            throw asked();
        }
    }

    /** Perhaps the thread that has it has ended. */
    @Test
    void nobodyWaitsForTheLockOfAClosedQueuePair() throws Exception {
        assertThat(ring.lock()).isTrue();
        OtherThread<Boolean> locking = OtherThread.begin(ring::lock);
        SendRing same = ring;
        OtherThread<Boolean> posting = OtherThread.begin(() -> {
            synchronized (same) {
                same.beginPost();
                return same.isLocked();
            }
        });
        locking.awaitStandstill();
        posting.awaitStandstill();
        ring.onClosed();
        assertThat(locking.result()).isFalse();
        assertThat(posting.result()).isTrue();
        ring.unlock();
    }

    @Test
    void completionsAreCountedByRequests() {
        assertThat(ring.clear()).isZero();
        assertThat(ring.wasCleared()).isFalse();
        post();
        post();
        stage();
        assertThat(ring.completions()).isEqualTo(3);
        ring.retire();
        assertThat(ring.completions()).isEqualTo(3);
        ring.retireSilently();
        assertThat(ring.completions()).isEqualTo(2);
        ring.unstage();
        assertThat(ring.completions()).isOne();
        ring.clear();
        assertThat(ring.wasCleared()).isTrue();
    }
}
