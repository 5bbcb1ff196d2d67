package io.rdma4j.softnic;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Queue pairs that have something to send through memory to a device that does not read. */
class HeldUpTest {
    private static final int LENGTH = Pair.MEMORY / 2;

    private final Pair pair;

    HeldUpTest() throws Exception {
        pair = new Pair();
        pair.simulation.network.memory.meet(1, 0, 0);
    }

    /** More than a ring takes. */
    private void writeMuch() throws Exception {
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.a.write(i, LENGTH);
        }
        pair.a.node.poll();
    }

    private long deadlineNs() {
        return pair.a.node.nic.engine().deadlineNs();
    }

    @Test
    void whatIsHeldUpGoesOnWhenTheReaderDoes() throws Exception {
        writeMuch();
        assertThat(deadlineNs()).isNotEqualTo(Long.MAX_VALUE);
        pair.settle();
        assertThat(pair.a.completions).hasSize(Pair.DEPTH);
        assertThat(pair.b.hasPeersBytes(LENGTH)).isTrue();
        assertThat(deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aQueuePairThatIsClosedIsLookedAfterNoLonger() throws Exception {
        writeMuch();
        assertThat(deadlineNs()).isNotEqualTo(Long.MAX_VALUE);
        pair.a.queuePair.close();
        assertThat(deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }
}
