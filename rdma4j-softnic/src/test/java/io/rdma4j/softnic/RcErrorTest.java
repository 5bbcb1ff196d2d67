// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every error ends in the status the standard gives it, fails its own queue pair and nothing else, and
 * leaves memory outside the region as it was.
 */
class RcErrorTest {
    private final Pair pair;
    private final Bystander bystander;
    private final MemorySegment untouched;

    RcErrorTest() throws Exception {
        pair = new Pair();
        bystander = new Bystander(pair, 20);
        untouched = MemorySegment.ofArray(new byte[Pair.MEMORY]).copyFrom(pair.b.memory);
    }

    /** Loses packets of the pair; those of the other connection arrive. */
    private void loseIf(Predicate<PacketView> rule) {
        pair.simulation.network
                .loseIf(packet -> !bystander.owns(packet.destinationQueuePairNumber())
                        && rule.test(packet));
    }

    /** Neither a connection that was busy all the while notices, nor one that is made afterwards. */
    @AfterEach
    void otherPairsOnTheSameDevicesWork() throws Exception {
        pair.simulation.network.loseIf(null);
        bystander.assertUnharmed();
        Pair.Side otherA = pair.new Side(pair.simulation.a);
        Pair.Side otherB = pair.new Side(pair.simulation.b);
        otherA.connect(otherB, new Pair.Settings());
        otherB.connect(otherA, new Pair.Settings());
        otherA.queuePair.postSend(otherA.request(1)
                .write(otherB.region.address() + Pair.MEMORY / 2, otherB.region.rkey())
                .add(otherA.region, 0, 5000));
        pair.settle();
        otherA.takeCompletions();
        otherA.assertCompleted("1 SUCCESS");
    }

    private void assertNothingWritten() {
        assertThat(pair.b.memory.mismatch(untouched)).isEqualTo(-1);
    }

    private void writeTo(long address, int rkey, int length) throws RdmaException {
        pair.a.queuePair.postSend(
                pair.a.request(1).write(address, rkey).add(pair.a.region, 0, length));
        pair.settle();
    }

    @Test
    void wrongRkeyIsARemoteAccessError() throws Exception {
        writeTo(pair.b.region.address(), pair.b.region.rkey() ^ 0x100, 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(event(pair.b)).isEqualTo(AsyncEventType.QP_ACCESS_ERROR);
        assertNothingWritten();
    }

    @Test
    void staleKeyOfAClosedRegionIsARemoteAccessError() throws Exception {
        int stale = pair.b.region.rkey();
        pair.b.region.close();
        MemoryRegion again = pair.b.node.domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        assertThat(again.rkey()).isNotEqualTo(stale);
        writeTo(again.address(), stale, 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertNothingWritten();
    }

    @Test
    void writeBeyondTheRegionIsARemoteAccessErrorAndWritesNothing() throws Exception {
        writeTo(pair.b.region.address() + Pair.MEMORY - 50, pair.b.region.rkey(), 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertNothingWritten();
    }

    @Test
    void writeBeforeTheRegionIsARemoteAccessError() throws Exception {
        writeTo(pair.b.region.address() - 1, pair.b.region.rkey(), 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertNothingWritten();
    }

    @Test
    void addressThatOverflowsIsARemoteAccessError() throws Exception {
        writeTo(-50, pair.b.region.rkey(), 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertNothingWritten();
    }

    @Test
    void writeToARegionWithoutTheRightIsARemoteAccessError() throws Exception {
        MemoryRegion readable = pair.b.node.domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ);
        writeTo(readable.address(), readable.rkey(), 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertNothingWritten();
    }

    @Test
    void readOfARegionWithoutTheRightIsARemoteAccessError() throws Exception {
        MemoryRegion writable = pair.b.node.domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        pair.a.queuePair.postSend(pair.a.request(1).read(writable.address(), writable.rkey())
                .add(pair.a.region, 0, 100));
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void writeThroughAQueuePairWithoutTheRightIsARemoteAccessError() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.access = new AccessFlag[]{AccessFlag.REMOTE_READ};
        Pair guarded = new Pair(settings);
        Bystander other = new Bystander(guarded, 20);
        guarded.a.write(1, 100);
        guarded.settle();
        guarded.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        other.assertUnharmed();
    }

    @Test
    void regionOfAnotherProtectionDomainIsARemoteAccessError() throws Exception {
        MemoryRegion foreign = pair.b.node.context.allocateProtectionDomain()
                .register(pair.b.memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        writeTo(foreign.address(), foreign.rkey(), 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertNothingWritten();
    }

    @Test
    void arenaClosedUnderARegionIsARemoteAccessError() throws Exception {
        Arena arena = Arena.ofShared();
        MemoryRegion region = pair.b.node.domain.register(arena.allocate(1000),
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        arena.close();
        writeTo(region.address(), region.rkey(), 100);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void regionClosedInTheMiddleOfAWriteEndsItThere() throws Exception {
        loseIf(packet -> packet.opcode() == Opcode.RC_WRITE_LAST);
        pair.a.write(1, 30000);
        pair.run(1_000_000);
        pair.simulation.network.loseIf(null);
        pair.b.region.close();
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void regionClosedInTheMiddleOfAReadEndsItThere() throws Exception {
        loseIf(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_LAST);
        pair.a.read(1, 30000);
        // Sooner than anything is sent again.
        pair.run(200_000);
        pair.b.region.close();
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void peerThatDiesInTheMiddleOfAMessageLeavesItsFirstHalf() throws Exception {
        int half = 10 * 1024;
        int mtu = 1024;
        List<Opcode> arrived = new ArrayList<>();
        loseIf(packet -> packet.destinationQueuePairNumber() == pair.a.queuePair.number()
                || arrived.size() == half / mtu || !arrived.add(packet.opcode()));
        pair.b.receive(7, 2 * half);
        pair.a.send(1, 2 * half);
        pair.run(Pair.SECOND / 100);
        assertThat(arrived).startsWith(Opcode.RC_SEND_FIRST).endsWith(Opcode.RC_SEND_MIDDLE);
        // A dead peer cannot be distinguished from a slow one: the receive stays posted.
        pair.b.assertCompleted();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(pair.b.hasPeersBytes(half)).isTrue();
        assertThat(pair.b.memory.asSlice(Pair.MEMORY / 2 + half, half)
                .mismatch(untouched.asSlice(Pair.MEMORY / 2 + half, half))).isEqualTo(-1);

        // A side that sends to the dead peer notices, and the half message is flushed.
        pair.b.send(8, 100);
        pair.settle();
        pair.b.assertCompleted("8 RETRY_EXCEEDED_ERROR", "7 WORK_REQUEST_FLUSHED");
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR");
    }

    @Test
    void wrongLkeyIsALocalProtectionErrorOnceEarlierWorkIsDone() throws Exception {
        pair.a.write(1, 5000);
        pair.a.queuePair.postSend(pair.a.request(2)
                .write(pair.b.region.address(), pair.b.region.rkey())
                .add(pair.a.region.address(), 100, pair.a.region.lkey() ^ 1));
        pair.a.write(3, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 LOCAL_PROTECTION_ERROR", "3 WORK_REQUEST_FLUSHED");
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void readIntoMemoryWithoutLocalWriteIsALocalProtectionError() throws Exception {
        MemoryRegion constant = pair.a.node.domain.register(pair.a.memory, AccessFlag.REMOTE_READ);
        pair.a.queuePair.postSend(
                pair.a.request(1).read(pair.b.region.address(), pair.b.region.rkey())
                        .add(constant, 0, 100));
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void receiveBufferTooSmallFailsBothSides() throws Exception {
        pair.b.receive(7, 1500);
        pair.a.send(1, 2000);
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_INVALID_REQUEST_ERROR");
        pair.b.assertCompleted("7 LOCAL_LENGTH_ERROR");
        assertThat(pair.b.upperByte(1600)).isZero();
    }

    @Test
    void receiveIntoMemoryThatIsNoneOfOursIsARemoteOperationError() throws Exception {
        pair.b.queuePair.postReceive(new ReceiveWorkRequest().id(7)
                .add(pair.b.region.address(), 1000, pair.b.region.lkey() ^ 0x10000));
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_OPERATION_ERROR");
        pair.b.assertCompleted("7 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void packetOutOfTurnIsAnInvalidRequest() throws Exception {
        pair.simulation.network.inject(pair.a.forge(Opcode.RC_WRITE_LAST, Pair.FIRST_PSN));
        pair.settle();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(event(pair.b)).isEqualTo(AsyncEventType.QP_REQUEST_ERROR);
        assertNothingWritten();
    }

    @Test
    void writeWithMoreBytesThanItAnnouncedIsAnInvalidRequest() throws Exception {
        assertWriteIsRefused(Opcode.RC_WRITE_ONLY, 10, 20);
    }

    @Test
    void firstPacketShorterThanThePathMtuIsAnInvalidRequest() throws Exception {
        assertWriteIsRefused(Opcode.RC_WRITE_FIRST, 2000, 1000);
    }

    private void assertWriteIsRefused(Opcode opcode, long announced, int payload)
            throws Exception {
        var packet = pair.a.forge(opcode, Pair.FIRST_PSN).rdma(pair.b.region.address(),
                pair.b.region.rkey(), announced);
        packet.addPayload(pair.a.memory, 0, payload);
        pair.simulation.network.inject(packet);
        pair.settle();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertNothingWritten();
    }

    @Test
    void operationTheResponderDoesNotOfferIsAnInvalidRequest() throws Exception {
        pair.simulation.network.inject(
                pair.a.forge(Opcode.RC_FLUSH, Pair.FIRST_PSN).rdma(pair.b.region.address(),
                        pair.b.region.rkey(), 0));
        pair.settle();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void moreReadsAtOnceThanAgreedAreAnInvalidRequest() throws Exception {
        // The sender keeps to its own limit; a peer that does not is refused.
        loseIf(packet -> packet.opcode().isResponse());
        for (int i = 0; i < 6; i++) {
            pair.simulation.network.inject(pair.a.forge(Opcode.RC_READ_REQUEST,
                    Pair.FIRST_PSN + i).rdma(pair.b.region.address(), pair.b.region.rkey(), 100));
        }
        pair.settle();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void zeroLengthOperationsLookAtNoKey() throws Exception {
        pair.a.queuePair.postSend(pair.a.request(1).write(0, 0));
        pair.a.queuePair.postSend(pair.a.request(2).read(0, 0));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
    }

    private static @Nullable AsyncEventType event(Pair.Side side) throws RdmaException {
        try (AsyncEvent event = side.node.context.asyncEventChannel().pollEvent(Duration.ZERO)) {
            return event == null ? null : event.type();
        }
    }
}
