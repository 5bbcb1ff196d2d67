// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.MemorySegment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connection on the devices of a pair that goes on exchanging while a test does harm to the pair: a round
 * is a SEND, a WRITE and a READ of several packets each, and the next begins when all are done.
 */
final class Bystander {
    private static final int LENGTH = 5000;
    private static final int WORK_OF_A_ROUND = 3;

    private final Pair pair;
    private final Pair.Side near;
    private final Pair.Side far;
    private int wanted;
    private int begun;
    private int done;

    /** @param rounds how many to begin with */
    Bystander(Pair pair, int rounds) throws RdmaException {
        this.pair = pair;
        near = pair.new Side(pair.simulation.a);
        far = pair.new Side(pair.simulation.b);
        near.connect(far, new Pair.Settings());
        far.connect(near, new Pair.Settings());
        pair.accompany(this);
        want(rounds);
        act();
    }

    /** Wants more rounds; they happen while the pair works. */
    void want(int rounds) {
        wanted += rounds;
    }

    /** {@return whether a packet is for one of its queue pairs} */
    boolean owns(int queuePairNumber) {
        return queuePairNumber == near.queuePair.number()
                || queuePairNumber == far.queuePair.number();
    }

    /** Checks what is done and begins the next round. */
    void act() throws RdmaException {
        near.takeCompletions();
        far.takeCompletions();
        if (begun > done && near.completions.size() == WORK_OF_A_ROUND) {
            endRound();
        }
        if (begun == done && begun < wanted) {
            beginRound();
        }
    }

    private void beginRound() throws RdmaException {
        begun++;
        near.memory.asSlice(0, LENGTH).fill((byte) begun);
        far.receive(begun, LENGTH);
        near.send(begun, LENGTH);
        near.queuePair.postSend(near.request(begun)
                .write(far.region.address(), far.region.rkey()).add(near.region, 0, LENGTH));
        near.queuePair.postSend(near.request(begun)
                .read(far.region.address(), far.region.rkey())
                .add(near.region, Pair.MEMORY / 2, LENGTH));
    }

    private void endRound() {
        done++;
        assertThat(near.completions).allMatch(WorkCompletion::isSuccess);
        assertThat(far.completions).singleElement().matches(WorkCompletion::isSuccess);
        near.completions.clear();
        far.completions.clear();
        MemorySegment sent = near.memory.asSlice(0, LENGTH);
        assertThat(far.memory.asSlice(Pair.MEMORY / 2, LENGTH).mismatch(sent)).isEqualTo(-1);
        assertThat(near.memory.asSlice(Pair.MEMORY / 2, LENGTH).mismatch(sent)).isEqualTo(-1);
    }

    /** Asserts that every round succeeded, and that more do. */
    void assertUnharmed() {
        assertUnharmedWithin(600 * Pair.SECOND);
    }

    /** Exchanges while something goes on that would end otherwise. */
    void assertUnharmedWithin(long durationNs) {
        want(3);
        pair.run(durationNs);
        assertThat(done).isEqualTo(wanted);
        assertThat(near.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(far.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }
}
