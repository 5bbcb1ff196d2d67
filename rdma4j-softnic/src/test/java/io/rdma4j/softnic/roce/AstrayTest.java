package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of packets that reach the wrong one of the processes at an address. */
class AstrayTest {
    private static final Gid PEER = Gid.of(InetAddress.ofLiteral("192.0.2.7"));
    private static final Gid OWN = Gid.of(InetAddress.ofLiteral("192.0.2.8"));
    private static final int PREFIX = 7;

    private final Shared sharing = new Shared();
    private final RoceLink link = new RoceLink(new FixedPorts() {
        @Override
        public PortSharing sharing() {
            return sharing;
        }
    }, new IbConnectionManager(CmSettings.defaults(1), () -> 1), new MulticastGroups(), () -> 100,
            to -> Path.NONE);

    /** The numbers of one prefix are this process's. */
    private static final class Shared implements PortSharing {
        int astray;

        @Override
        public boolean isShared() {
            return true;
        }

        @Override
        public int prefix() {
            return PREFIX;
        }

        @Override
        public int takePrefix() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOwn(int queuePair) {
            return queuePair >>> QUEUE_PAIR_BITS == PREFIX;
        }

        @Override
        public void listen(int service) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void stopListening(int service) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Reservation reserve(int service) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void onAstray(int queuePair) {
            astray++;
        }
    }

    private void receive(int queuePair) {
        Arena arena = Arena.ofAuto();
        OutgoingPacket packet = new OutgoingPacket(arena.allocate(Opcode.MAX_HEADER_LENGTH, 64));
        packet.begin(Opcode.RC_SEND_ONLY, Path.between(PEER, OWN), queuePair, 1, true, false);
        MemorySegment bytes = arena.allocate(packet.totalLength() + PacketView.ICRC_LENGTH);
        packet.copyTo(bytes, 0);
        link.handler().onDatagram(new ReceivedDatagram().fill(OWN, PEER, 50_000, 0, bytes, 0,
                packet.totalLength()));
    }

    private long count(Counter counter) {
        return link.engine().counters().value(counter);
    }

    @Test
    void numbersBeginWithThePrefix() {
        assertThat(link.engine().newQueuePairNumber() >>> PortSharing.QUEUE_PAIR_BITS)
                .isEqualTo(PREFIX);
    }

    @Test
    void packetsOfAnotherProcessAreCountedAndReported() {
        receive((9 << PortSharing.QUEUE_PAIR_BITS) | 5);
        assertThat(count(Counter.DROPPED_ASTRAY)).isOne();
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isZero();
        assertThat(sharing.astray).isOne();
    }

    @Test
    void packetsOfNoQueuePairOfThisProcessAreNot() {
        receive((PREFIX << PortSharing.QUEUE_PAIR_BITS) | 5);
        assertThat(count(Counter.DROPPED_ASTRAY)).isZero();
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isOne();
        assertThat(sharing.astray).isZero();
    }
}
