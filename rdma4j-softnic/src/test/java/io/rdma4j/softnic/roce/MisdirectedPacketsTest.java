// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.DatagramLookup;
import io.rdma4j.protocol.ibcm.IbCmConnection;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.engine.QuietQueuePair;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of packets that reach the wrong one of the processes at an address. */
class MisdirectedPacketsTest {
    private static final Gid PEER = Gid.of(InetAddress.ofLiteral("192.0.2.7"));
    private static final Gid OWN = Gid.of(InetAddress.ofLiteral("192.0.2.8"));
    private static final int PREFIX = 7;
    /** That of another process. */
    private static final int OTHER = 9;
    /** A port of RDMA_PS_TCP that the other process listens at. */
    private static final int OTHERS_SERVICE = 0x0106_1f90;
    private static final int ATTRIBUTE = 16;
    private static final int MESSAGE = 24;
    private static final int REJECT = 0x12;
    private static final int REPLY = 0x13;
    private static final int DISCONNECT_REPLY = 0x16;

    private final Arena arena = Arena.ofAuto();
    private final Shared sharing = new Shared();
    private final IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1),
            () -> 1);
    private final RoceLink link = new RoceLink(new FixedPorts() {
        @Override
        public PortSharing sharing() {
            return sharing;
        }
    }, manager, new MulticastGroups(), () -> 100, new ProcessNumbers(sharing, () -> 100),
            to -> Path.NONE);

    /** The numbers of one prefix are this process's. */
    private static final class Shared implements PortSharing {
        int misdirected;
        int misdirectedTo;
        int passedOn;

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
            throw new AssertionError("this test needs it not");
        }

        @Override
        public boolean isOwn(int queuePair) {
            return queuePair >>> QUEUE_PAIR_BITS == PREFIX;
        }

        @Override
        public void listen(int service) {
            throw new AssertionError("this test needs it not");
        }

        @Override
        public void listenOnlyForRepetitions(int service) {
            throw new AssertionError("this test needs it not");
        }

        @Override
        public void check() {
            throw new AssertionError("this test needs it not");
        }

        @Override
        public boolean passOn(ReceivedDatagram datagram) {
            passedOn++;
            return true;
        }

        @Override
        public void stopListening(int service) {
            throw new AssertionError("this test needs it not");
        }

        @Override
        public Reservation reserve(int service) {
            throw new AssertionError("this test needs it not");
        }

        @Override
        public boolean isOthers(int prefix) {
            return prefix == OTHER;
        }

        @Override
        public int otherListener(Gid address, int service) {
            return address.equals(OWN) && service == OTHERS_SERVICE ? OTHER : 0;
        }

        @Override
        public void onMisdirected(int queuePair) {
            misdirected++;
            misdirectedTo = queuePair >>> QUEUE_PAIR_BITS;
        }
    }

    private void receive(int queuePair) {
        OutgoingPacket packet = new OutgoingPacket();
        packet.begin(Opcode.RC_SEND_ONLY, Path.between(PEER, OWN), queuePair, 1, true, false);
        receive(packet);
    }

    /**
     * A management datagram arrives.
     *
     * @param at where in the message a number stands
     */
    private void receiveManagement(int attribute, int at, int number) {
        receive(management(attribute, at, number));
    }

    private OutgoingPacket management(int attribute, int at, int number) {
        MemorySegment mad = arena.allocate(IbConnectionManager.MESSAGE_LENGTH, 8);
        mad.asByteBuffer().putInt(0, 0x01070203).putShort(ATTRIBUTE, (short) attribute)
                .putInt(MESSAGE + at, number);
        OutgoingPacket packet = new OutgoingPacket();
        packet.begin(Opcode.UD_SEND_ONLY, Path.between(PEER, OWN), IbConnectionManager.QUEUE_PAIR,
                1, false, false)
                .datagram(IbConnectionManager.QKEY, IbConnectionManager.QUEUE_PAIR);
        packet.addPayload(mad, 0, IbConnectionManager.MESSAGE_LENGTH);
        return packet;
    }

    private void receive(OutgoingPacket packet) {
        link.handler().onDatagram(datagram(packet));
    }

    private ReceivedDatagram datagram(OutgoingPacket packet) {
        MemorySegment bytes = arena.allocate(packet.totalLength() + PacketView.ICRC_LENGTH);
        packet.copyTo(bytes, 0);
        return new ReceivedDatagram().fill(OWN, PEER, 50_000, 0, bytes, 0, packet.totalLength());
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
        receive((OTHER << PortSharing.QUEUE_PAIR_BITS) | 5);
        assertThat(count(Counter.DROPPED_MISDIRECTED)).isOne();
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isZero();
        assertThat(sharing.misdirected).isOne();
    }

    /** What a ring finds in shared memory that no device writes there. */
    @Test
    void packetsInSharedMemoryThatNoDeviceWritesAreCounted() {
        SharedMemory.Handler handler = (SharedMemory.Handler) link.handler();
        handler.onMalformed(PEER);
        handler.onNonsense();
        assertThat(count(Counter.DROPPED_MALFORMED)).isEqualTo(2);
    }

    private boolean hasAnswer() {
        return manager
                .pollTransmit(ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH)) != null;
    }

    /** REQ and SIDR_REQ by the service, SIDR_REP by the requester's identifier, REP as all others by the receiver's. */
    @ParameterizedTest
    @CsvSource({"0x10, 12, 0x01061f90", "0x17, 12, 0x01061f90", "0x18, 0, 0x09000005",
        "0x13, 4, 0x09000005", "0x15, 4, 0x09000005"})
    void messagesOfAnotherProcessAreNotAnsweredInItsPlace(String attribute, int at,
            String number) {
        receiveManagement(Integer.decode(attribute), at, Integer.decode(number));
        assertThat(count(Counter.DROPPED_MISDIRECTED)).isOne();
        assertThat(sharing.misdirected).isOne();
        assertThat(sharing.misdirectedTo).isEqualTo(OTHER);
        assertThat(hasAnswer()).isFalse();
    }

    /** A process that is asked, and knows of no other process with the number, answers that there is none. */
    @ParameterizedTest
    @CsvSource({"0x10, 12, 0x01061f91", "0x13, 4, 0x07000005", "0x13, 4, 0x0b000005"})
    void messagesOfNobodyAreAnswered(String attribute, int at, String number) {
        receiveManagement(Integer.decode(attribute), at, Integer.decode(number));
        assertThat(count(Counter.DROPPED_MISDIRECTED)).isZero();
        assertThat(hasAnswer()).isTrue();
    }

    /** A requester that withdraws names only itself. */
    @Test
    void aWithdrawalOfNoRequestHereIsPassedOn() {
        receiveManagement(REJECT, 0, 5);
        assertThat(sharing.passedOn).isOne();
        assertThat(count(Counter.DROPPED_MISDIRECTED)).isOne();
        assertThat(sharing.misdirected).isZero();
        assertThat(hasAnswer()).isFalse();
    }

    @Test
    void whatWasPassedOnIsNotPassedOnAgain() {
        link.handler().onDatagram(datagram(management(REJECT, 0, 5)).passedOn());
        assertThat(sharing.passedOn).isZero();
        assertThat(count(Counter.DROPPED_MISDIRECTED)).isZero();
        assertThat(count(Counter.DROPPED_BAD_MAD)).isZero();
        assertThat(count(Counter.RCVD_PKTS)).isZero();
    }

    @Test
    void aRejectionThatNamesAnIdentifierIsNotPassedOn() {
        receiveManagement(REJECT, Integer.BYTES, PREFIX << 24 | 5);
        assertThat(sharing.passedOn).isZero();
        assertThat(count(Counter.DROPPED_BAD_MAD)).isOne();
    }

    @Test
    void packetsOfNoQueuePairOfThisProcessAreNot() {
        receive((PREFIX << PortSharing.QUEUE_PAIR_BITS) | 5);
        assertThat(count(Counter.DROPPED_MISDIRECTED)).isZero();
        assertThat(count(Counter.DROPPED_UNKNOWN_QP)).isOne();
        assertThat(sharing.misdirected).isZero();
    }

    private static final class Unanswered implements DatagramLookup.Events {
        @Override
        public void onService(int queuePair, int qkey, byte[] privateData) {}

        @Override
        public void onRefused(int status, byte[] privateData) {}

        @Override
        public void onUnreachable(Errno reason) {}
    }

    private RoceQueuePair reliable() {
        return new RoceQueuePair(link, link.engine().newQueuePairNumber(), QueuePairType.RC,
                QuietQueuePair.queues(),
                new DomainMemory(new MemoryTable(() -> 1), this, 0, () -> {}),
                new QuietQueuePair.Unheard());
    }

    /** A packet that reaches a process which is stopped shows nowhere else. */
    @ParameterizedTest
    @CsvSource({"TIMEOUT, 1", "RTT_ESTIMATE, 1", "PROBE, 0", "SEQUENCE_NAK, 0", "IMPLIED_NAK, 0"})
    void aLongSilenceIsReported(RetransmissionCause cause, int reports) {
        reliable().retransmits(1, cause);
        assertThat(sharing.misdirected).isEqualTo(reports);
    }

    @Test
    void aMessageOfTheConnectionManagerThatIsNotAnsweredIsReported() {
        manager.lookUp(new ConnectSpec(new CmPeer(OWN, PEER), PortSpace.UDP, QueuePairType.UD,
                40_000, 40_001, new ConnectionParameters(), 0, Mtu.MTU_1024, 0, null),
                new Unanswered(), 0);
        link.onTime(0);
        assertThat(sharing.misdirected).isZero();
        // A look for what the system reports, which is too early to be a silence.
        link.onTime(manager.deadlineNs());
        assertThat(sharing.misdirected).isZero();
        link.onTime(manager.deadlineNs());
        assertThat(sharing.misdirected).isOne();
    }

    private static final class Unheeded implements IbCmConnection.Events {
        @Override
        public void onReply(ConnectionParameters parameters) {}

        @Override
        public void onEstablished() {}

        @Override
        public void onRejected(int reason, byte[] privateData) {}

        @Override
        public void onUnreachable(Errno reason) {}

        @Override
        public void onDisconnected() {}

        @Override
        public void onTimewaitExit() {}
    }

    /** Its time-wait is over. A thousand connections that end must not have the places asked a thousand times. */
    @Test
    void aConnectionThatEndsIsNotReported() throws Exception {
        IbCmConnection connection = manager.connect(new ConnectSpec(new CmPeer(OWN, PEER),
                PortSpace.TCP, QueuePairType.RC, 40_000, 40_001, new ConnectionParameters(), 5,
                Mtu.MTU_1024, 0, null), new Unheeded(), 0);
        ByteBuffer request = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        manager.pollTransmit(request);
        int identifier = request.getInt(MESSAGE);
        receiveManagement(REPLY, identifier);
        connection.establish();
        connection.disconnect(0);
        receiveManagement(DISCONNECT_REPLY, identifier);
        assertThat(manager.deadlineNs()).isLessThan(Long.MAX_VALUE);

        link.onTime(manager.deadlineNs());

        assertThat(manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(sharing.misdirected).isZero();
    }

    private void receiveManagement(int attribute, int identifier) {
        receiveManagement(attribute, Integer.BYTES, identifier);
    }
}
