// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.softnic.verbs.Limits;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * More READs, atomics, atomic writes and FLUSHes under way than the responder was set to take: Linux and several NICs
 * round the depth they are given up to a power of two.
 */
class ReadDepthTest {
    private static final int WORD = 0;
    private static final int RESULTS = 1024;
    private static final int LENGTH = 64;

    /** What takes a place among the READs that are under way. */
    enum Request {
        READ, FETCH_AND_ADD, ATOMIC_WRITE, FLUSH
    }

    /** {@return a pair whose first side has so many under way and whose second was set to take so many} */
    private static Pair pair(int underWay, int served) throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.readAtomic = underWay;
        settings.readAtomicServed = served;
        return new Pair(settings);
    }

    private static SendWorkRequest request(Pair pair, Request what, int id) {
        SendWorkRequest request = pair.a.request(id);
        long address = pair.b.region.address();
        int rkey = pair.b.region.rkey();
        return switch (what) {
            case READ -> request.read(address, rkey).add(pair.a.region, Pair.MEMORY / 2, LENGTH);
            case FETCH_AND_ADD -> request.fetchAndAdd(address + WORD, rkey, 1).add(pair.a.region,
                    RESULTS + id * Long.BYTES, Long.BYTES);
            case ATOMIC_WRITE -> request.atomicWrite(address + WORD, rkey)
                    .inline(MemorySegment.ofArray(new long[]{id}));
            case FLUSH -> request.flush(address, rkey, LENGTH, Set.of(FlushPlacement.GLOBAL),
                    FlushSelectivity.RANGE);
        };
    }

    private static void assertAllSucceed(Pair pair, int count) {
        assertThat(pair.a.completions).hasSize(count)
                .allMatch(completion -> completion.isSuccess());
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @ParameterizedTest
    @EnumSource
    void asManyAreUnderWayAsThePeerRoundsUpTo(Request what) throws Exception {
        Pair pair = pair(8, 5);
        for (int id = 0; id < 8; id++) {
            pair.a.queuePair.postSend(request(pair, what, id));
        }
        pair.settle();
        assertAllSucceed(pair, 8);
    }

    @Test
    void eachAtomicIsCarriedOutOnceThoughAllAnswersAreLost() throws Exception {
        Pair pair = pair(Pair.DEPTH, Pair.DEPTH / 2 + 1);
        pair.b.memory.set(ValueLayout.JAVA_LONG, WORD, 100);
        Set<Integer> lost = new HashSet<>();
        pair.simulation.network.loseIf(packet -> packet.opcode() == Opcode.RC_ATOMIC_ACKNOWLEDGE
                && lost.add(packet.psn()));
        for (int id = 0; id < Pair.DEPTH; id++) {
            pair.a.queuePair.postSend(request(pair, Request.FETCH_AND_ADD, id));
        }
        pair.settle();
        assertAllSucceed(pair, Pair.DEPTH);
        assertThat(lost).hasSize(Pair.DEPTH);
        assertThat(pair.b.memory.get(ValueLayout.JAVA_LONG, WORD)).isEqualTo(100 + Pair.DEPTH);
        assertThat(pair.a.memory.asSlice(RESULTS, (long) Pair.DEPTH * Long.BYTES)
                .toArray(ValueLayout.JAVA_LONG))
                .containsExactly(LongStream.range(100, 100 + Pair.DEPTH).toArray());
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "4, 4", "5, 8", "7, 8", "8, 8", "9, 16"})
    void theNextPowerOfTwoIsServedAndNoMore(int agreed, int served) throws Exception {
        assertThat(stateAfterReads(pair(1, agreed), served)).isEqualTo(QueuePairState.RTS);
        assertThat(stateAfterReads(pair(1, agreed), served + 1)).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void theLargestNumberIsServed() throws Exception {
        // More than a device takes from the network at a time: some are answered before the last ones arrive.
        assertThat(stateAfterReads(pair(1, Limits.READ_ATOMIC), Limits.READ_ATOMIC))
                .isEqualTo(QueuePairState.RTS);
    }

    @Test
    void moreAreServedOnceThatIsAgreedInSqd() throws Exception {
        Pair pair = pair(1, 1);
        pair.b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        pair.b.queuePair.modify(new QueuePairAttributes().maxDestinationReadAtomic(3));
        pair.b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(stateAfterReads(pair, 4)).isEqualTo(QueuePairState.RTS);
    }

    @ParameterizedTest
    @EnumSource
    void noneIsServedIfNoneWasAgreed(Request what) throws Exception {
        Pair pair = pair(1, 0);
        pair.a.queuePair.postSend(request(pair, what, 1));
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_INVALID_REQUEST_ERROR");
    }

    /** {@return the responder's state after so many READs that arrive at the same time} */
    private static QueuePairState stateAfterReads(Pair pair, int reads) {
        for (int i = 0; i < reads; i++) {
            pair.simulation.network.inject(pair.a.forge(Opcode.RC_READ_REQUEST, Pair.FIRST_PSN + i)
                    .rdma(pair.b.region.address(), pair.b.region.rkey(), LENGTH));
        }
        pair.settle();
        return pair.b.queuePair.state();
    }
}
