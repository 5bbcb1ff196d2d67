// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.network.SimulatedMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How many packets a long message is through memory: more if they are copied, so that the reader copies one while the next is written. */
class LongPacketsTest {
    private static final int LENGTH = 1 << 20;
    private static final int COPIED = 32 << 10;
    private static final int LENT = 64 << 10;
    /** More than acknowledgements, which are packets as well. */
    private static final int FEW = 8;

    private final Pair pair;
    private final SimulatedMemory memory;
    private final MemoryRegion from;
    private final MemoryRegion to;

    LongPacketsTest() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.mtu = Mtu.MTU_4096;
        pair = new Pair(settings);
        from = pair.a.node.domain.allocateRegion(LENGTH);
        to = pair.b.node.domain.allocateRegion(LENGTH, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        memory = pair.simulation.network.memory;
        memory.meet(1, 0, 0);
    }

    @AfterEach
    void shutDown() {
        pair.simulation.shutDown();
    }

    /** {@return how many packets have gone through memory} */
    private long write() throws Exception {
        long before = memory.received();
        pair.a.queuePair.postSend(pair.a.request(7).write(to.address(), to.rkey()).add(from, 0,
                LENGTH));
        pair.settle();
        pair.a.assertCompleted("7 SUCCESS");
        return memory.received() - before;
    }

    @Test
    void copiedPayloadsAreHalfAsLong() throws Exception {
        assertThat(write()).isBetween((long) LENGTH / COPIED, (long) LENGTH / COPIED + FEW);
    }

    /** The first packet shows that they are lent. */
    @Test
    void lentPayloadsAreAsLongAsThePathAllows() throws Exception {
        memory.lend(0);
        assertThat(write()).isBetween((long) LENGTH / LENT + 1, (long) LENGTH / LENT + 1 + FEW);
        assertThat(write()).isBetween((long) LENGTH / LENT, (long) LENGTH / LENT + FEW);
    }
}
