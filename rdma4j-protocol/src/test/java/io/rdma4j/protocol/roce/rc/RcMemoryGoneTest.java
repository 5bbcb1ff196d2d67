// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;

/** Memory that is deregistered, or whose arena is closed, between two packets of a message: it ends there. */
class RcMemoryGoneTest {
    private static final int MTU = 1024;
    private static final int THREE_PACKETS = 2500;
    /** Of memory that goes. */
    private static final int KEY = 3;

    private final RcPair pair = new RcPair();
    private final Arena arena = Arena.ofShared();

    /** Registers memory at address 0 that lasts until the arena is closed. */
    private void registerIn(RcEnd end) {
        end.regions.register(KEY, 0, arena.allocate(THREE_PACKETS),
                EnumSet.allOf(AccessFlag.class));
    }

    /** Does something once a packet is on its way. */
    private void behind(Opcode opcode, Runnable action) {
        pair.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                if (packet.opcode() == opcode) {
                    action.run();
                }
            }
        });
    }

    private void assertRefusedByB() {
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(pair.b.events).containsExactly(AsyncEventType.QP_ACCESS_ERROR);
    }

    @Test
    void readIsRefusedFromWhereItsMemoryIsDeregistered() {
        behind(Opcode.RC_READ_RESPONSE_FIRST, () -> pair.b.regions.close(pair.b.key));
        pair.a.read(1, THREE_PACKETS);
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertRefusedByB();
        assertThat(pair.a.hasPeersBytes(MTU)).isTrue();
        assertThat(pair.a.hasPeersBytes(MTU + 1)).isFalse();
    }

    @Test
    void readIsRefusedFromWhereTheArenaOfItsMemoryIsClosed() {
        registerIn(pair.b);
        behind(Opcode.RC_READ_RESPONSE_FIRST, arena::close);
        pair.a.post(pair.a.request(1).read(0, KEY).add(pair.a.address, THREE_PACKETS, pair.a.key));
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertRefusedByB();
    }

    /** Asking for the lost part would not help: the peer has failed, and is silent. */
    @Test
    void readIsRefusedAtOnceAlsoIfAnEarlierPartOfItWasLost() {
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_FIRST);
        behind(Opcode.RC_READ_RESPONSE_MIDDLE, () -> pair.b.regions.close(pair.b.key));
        pair.a.read(1, THREE_PACKETS);
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertRefusedByB();
        assertThat(pair.a.counted(Counter.RETRY_EXCEEDED_ERR)).isZero();
    }

    /** The first one is asked for again, and never answered: because of the refusal, and not because the peer is gone. */
    @Test
    void refusalIsReportedAlsoIfTheResponseToAnEarlierReadWasLost() {
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY);
        pair.a.read(1, 100);
        pair.a.post(pair.a.request(2).read(pair.b.address, pair.b.key + 1).add(
                pair.a.address + RcEnd.UPPER, 100, pair.a.key));
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertRefusedByB();
    }

    /** It may be an old copy, and the answer have come: only the peer can tell whether it matters. */
    @Test
    void repeatedReadOfWhatIsGoneIsRefusedAndTheConnectionStays() {
        pair.a.read(1, 100);
        pair.settle();
        pair.b.regions.close(pair.b.key);
        assertThat(Effects.of(pair.b, () -> pair.wire.deliver(pair.b,
                pair.a.forge(Opcode.RC_READ_REQUEST, 0).rdma(pair.b.address, pair.b.key, 100))))
                .isEqualTo("NAK_REMOTE_ACCESS 0");
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void writeIsRefusedFromWhereItsTargetIsGone() {
        behind(Opcode.RC_WRITE_LAST, () -> pair.b.regions.close(pair.b.key));
        pair.a.write(1, THREE_PACKETS);
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertRefusedByB();
    }

    @Test
    void messageWhoseReceiveIsGoneFailsBothEnds() {
        registerIn(pair.b);
        pair.b.post(new ReceiveWorkRequest().id(7).add(0, THREE_PACKETS, KEY));
        pair.a.send(1, THREE_PACKETS);
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_SEND_MIDDLE);
        pair.run(30_000);
        arena.close();
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_OPERATION_ERROR");
        pair.b.assertCompleted("7 LOCAL_PROTECTION_ERROR");
    }

    // [IBTA 9.9.2-2]
    @Test
    void requestWhoseOwnMemoryIsGoneFailsOnceEarlierWorkIsDone() {
        registerIn(pair.a);
        pair.a.write(1, THREE_PACKETS);
        pair.a.post(pair.a.request(2).write(pair.b.address + RcEnd.UPPER, pair.b.key).add(0,
                THREE_PACKETS, KEY));
        pair.a.write(3, 100);
        arena.close();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 LOCAL_PROTECTION_ERROR", "3 WORK_REQUEST_FLUSHED");
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void readIntoMemoryThatIsGoneIsALocalProtectionError() {
        registerIn(pair.a);
        pair.a.post(pair.a.request(1).read(pair.b.address, pair.b.key).add(0, THREE_PACKETS, KEY));
        behind(Opcode.RC_READ_RESPONSE_LAST, arena::close);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void messagesWithoutBytesLookAtNoKey() {
        pair.a.post(pair.a.request(1).write(0, 0));
        pair.a.post(pair.a.request(2).read(0, 0));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
    }
}
