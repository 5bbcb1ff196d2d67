// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How many packets a long message is through memory: more if they are copied, so that the reader copies one while the next is written. */
class LongPacketsTest {
    private static final int LENGTH = 1 << 20;
    private static final int COPIED = 32 << 10;
    private static final int LENT = 64 << 10;
    /** More than acknowledgements, which are packets as well. */
    private static final int FEW = 8;
    private static final long LIMIT_NS = 10_000_000_000L;

    private final WorkCompletion completion = new WorkCompletion();
    private Simulation simulation;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private MemoryRegion from;
    private MemoryRegion to;

    @BeforeEach
    void connect() throws Exception {
        simulation = new Simulation(1);
        QueuePairCapabilities sizes = QueuePairCapabilities.ofDepth(4, 4);
        queue = simulation.a.context.createCompletionQueue(16);
        queuePair = simulation.a.queuePair(queue, sizes);
        QueuePair other = simulation.b
                .queuePair(simulation.b.context.createCompletionQueue(16), sizes);
        simulation.connect(queuePair, other, Mtu.MTU_4096, 7);
        from = simulation.a.domain.allocateRegion(LENGTH);
        to = simulation.b.domain.allocateRegion(LENGTH, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        simulation.network.memory.meet(1, 0, 0);
    }

    @AfterEach
    void shutDown() {
        simulation.shutDown();
    }

    /** {@return how many packets have gone through memory} */
    private long write() throws Exception {
        long before = simulation.network.memory.received();
        queuePair.postSend(new SendWorkRequest().opcode(SendOpcode.RDMA_WRITE)
                .set(SendFlag.SIGNALED).add(from, 0, LENGTH).remote(to.address(), to.rkey()));
        assertThat(simulation.run(this::isComplete, simulation.network.nowNs() + LIMIT_NS))
                .isTrue();
        assertThat(completion.isSuccess()).isTrue();
        return simulation.network.memory.received() - before;
    }

    private boolean isComplete() {
        try {
            return queue.poll(completion);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void copiedPayloadsAreHalfAsLong() throws Exception {
        assertThat(write()).isBetween((long) LENGTH / COPIED, (long) LENGTH / COPIED + FEW);
    }

    /** The first packet shows that they are lent. */
    @Test
    void lentPayloadsAreAsLongAsThePathAllows() throws Exception {
        simulation.network.memory.lend(0);
        assertThat(write()).isBetween((long) LENGTH / LENT + 1, (long) LENGTH / LENT + 1 + FEW);
        assertThat(write()).isBetween((long) LENGTH / LENT, (long) LENGTH / LENT + FEW);
    }
}
