// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QuietQueuePair;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;

import static org.assertj.core.api.Assertions.assertThat;

/** Which queue pairs send to the same process, so that their packets leave by one system call. */
class TogetherTest {
    private static final Gid OWN = Gid.of(InetAddress.getLoopbackAddress());
    private static final Gid FAR = Gid.of(InetAddress.ofLiteral("192.0.2.2"));
    private static final int PROCESS = 5 << PortSharing.QUEUE_PAIR_BITS;
    private static final int OTHER_PROCESS = 6 << PortSharing.QUEUE_PAIR_BITS;

    private final RoceLink link = new RoceLink(new FixedPorts(new Near()),
            new IbConnectionManager(CmSettings.defaults(1), () -> 1), new MulticastGroups(),
            () -> 100, new ProcessNumbers(PortSharing.NONE, () -> 100),
            to -> Path.between(OWN, to.destination()));

    /** Sends together what stays on this host. */
    private static final class Near extends FixedPorts.Port {
        @Override
        public boolean sendsTogether(Gid destination) {
            return destination.equals(OWN);
        }

        @Override
        public int receive(PacketHandler handler, int budget) {
            return 0;
        }
    }

    private RoceQueuePair queuePair(QueuePairType type) {
        return new RoceQueuePair(link, link.engine().newQueuePairNumber(), type,
                QuietQueuePair.queues(),
                new DomainMemory(new MemoryTable(() -> 1), this, 0, () -> {}),
                new QuietQueuePair.Unheard());
    }

    private long together(QueuePairType type, Gid destination, int number) throws RdmaException {
        RoceQueuePair queuePair = queuePair(type);
        queuePair.modify(new QueuePairAttributes()
                .addressVector(AddressHandleAttributes.to(destination, 1))
                .destinationQueuePairNumber(number), QueuePairState.INIT, 0);
        return queuePair.together();
    }

    @Test
    void thoseToOneProcessDo() throws RdmaException {
        assertThat(together(QueuePairType.RC, OWN, PROCESS | 17))
                .isEqualTo(together(QueuePairType.RC, OWN, PROCESS | 18))
                .isEqualTo(together(QueuePairType.UC, OWN, PROCESS | 19))
                .isNotEqualTo(EngineQueuePair.ALONE);
    }

    @Test
    void thoseToDifferentProcessesDoNot() throws RdmaException {
        assertThat(together(QueuePairType.RC, OWN, PROCESS | 17))
                .isNotEqualTo(together(QueuePairType.RC, OWN, OTHER_PROCESS | 17));
    }

    /** Their packets leave from several ports. */
    @Test
    void thoseToAnotherHostLeaveAlone() throws RdmaException {
        assertThat(together(QueuePairType.RC, FAR, PROCESS | 17)).isEqualTo(EngineQueuePair.ALONE);
    }

    @Test
    void datagramsLeaveAlone() {
        assertThat(queuePair(QueuePairType.UD).together()).isEqualTo(EngineQueuePair.ALONE);
    }
}
